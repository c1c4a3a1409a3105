#include "tool/doctor/host_probes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ringlet::cli {
namespace {

TEST(HostProbes, ThisHostHasAllFacts) {
  const doctor::HostFacts facts = ProbeHost({{"NCCL_NOT_OURS", "mlx5"},
                                             {"NCCL_SOCKET_IFNAME", "=lo"},
                                             {"RINGLET_SECRET", "password"},
                                             {"RINGLET_TREE_ARITY", "4"},
                                             {"HOME", "/"}});
  EXPECT_FALSE(facts.host.empty());
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_FALSE(facts.libc.empty());
  EXPECT_FALSE(facts.machine.empty());
  EXPECT_EQ(facts.name.host_name, facts.host);
  EXPECT_FALSE(facts.interfaces.empty());
  EXPECT_GT(facts.cpus.usable, 0u);
  EXPECT_LE(facts.cpus.usable, facts.cpus.online);
  EXPECT_GT(facts.memory.total_bytes, facts.memory.available_bytes);
  EXPECT_GT(facts.memory.available_bytes, 0u);
  EXPECT_LT(facts.ports.first, facts.ports.last);
  EXPECT_EQ(facts.ports.failure, "");
  EXPECT_EQ(facts.settings.at("NCCL_NOT_OURS").value, "mlx5");
  EXPECT_TRUE(facts.settings.at("RINGLET_TREE_ARITY").must_agree);
  EXPECT_EQ(facts.settings.at("RINGLET_SOCKET_IFNAME").from, "NCCL_SOCKET_IFNAME");
  EXPECT_EQ(facts.settings_failure, "");
  EXPECT_EQ(ToJson(facts).find("password"), std::string::npos);
  EXPECT_TRUE(doctor::ParseHostFacts(ToJson(facts)).ok());
}

TEST(HostProbes, InvalidSettingsAreAFact) {
  const doctor::HostFacts facts = ProbeHost({{"RINGLET_TREE_ARITY", "many"}});
  EXPECT_NE(facts.settings_failure.find("TREE_ARITY"), std::string::npos);
}

}  // namespace
}  // namespace ringlet::cli
