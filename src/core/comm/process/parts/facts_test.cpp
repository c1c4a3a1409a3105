#include "comm/process/parts/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/process/process.hpp"
#include "os/process/limits.hpp"

namespace ringlet::comm {
namespace {

TEST(Facts, NamesAWrongSetting) {
  for (const auto& [name, value] : EnvMap{{"RINGLET_TREE_ARITY", "many"},
                                          {"RINGLET_P2P_LEVEL", "near"},
                                          {"RINGLET_TCP_CONGESTION", "no_such"}}) {
    const auto facts = ProcessFacts::Read({{name, value}}, {});
    ASSERT_FALSE(facts.ok());
    EXPECT_EQ(facts.error().code, Code::kInvalidArgument);
    EXPECT_THAT(facts.error().message,
                testing::AllOf(testing::HasSubstr(name), testing::HasSubstr(value)));
  }
}

TEST(Facts, HostIdReplacesTheHostsIdentity) {
  const auto a = ProcessFacts::Read({{"NCCL_HOSTID", "rack1"}}, {});
  const auto b = ProcessFacts::Read({{"RINGLET_HOSTID", "rack1"}}, {});
  const auto c = ProcessFacts::Read({}, {});
  EXPECT_EQ(a->host_hash, b->host_hash);
  EXPECT_NE(a->host_hash, c->host_hash);
  EXPECT_NE(a->process_hash, b->process_hash);
}

TEST(Facts, RanksSpinIfEachHasACoreUnlessTheSettingForbidsIt) {
  const auto facts = ProcessFacts::Read({}, {});
  EXPECT_TRUE(facts->MaySpin(facts->usable_cores));
  EXPECT_FALSE(facts->MaySpin(facts->usable_cores + 1));
  EXPECT_FALSE(ProcessFacts::Read({{"RINGLET_WAIT", "sleep"}}, {})->MaySpin(1));
  EXPECT_FALSE(ProcessFacts::Read({{"RINGLET_WAIT", "yield"}}, {})->MaySpin(1));
  EXPECT_TRUE(ProcessFacts::Read({{"RINGLET_WAIT", "spin"}}, {})->MaySpin(100'000));
}

TEST(Facts, BoundsTheDescriptorsOfUnauthenticatedCallers) {
  const auto facts = ProcessFacts::Read({}, {});
  EXPECT_EQ(facts->HalfOpenMax(1), 1u);
  EXPECT_EQ(facts->HalfOpenMax(0x7fffffff), os::RaiseDescriptorLimit() / 8);
}

TEST(HostReader, NamesAMissingInterface) {
  const auto process = *Process::Start({{"NCCL_SOCKET_IFNAME", "nosuch0"}});
  const auto addresses = process->host_reader().ReachableAddresses();
  ASSERT_FALSE(addresses.ok());
  EXPECT_THAT(addresses.error().message, testing::HasSubstr("nosuch0"));
}

TEST(HostReader, TheSettingCanSelectLoopback) {
  const auto process =
      *Process::Start({{"NCCL_SOCKET_IFNAME", "lo"}, {"NCCL_SOCKET_FAMILY", "AF_INET"}});
  const auto addresses = process->host_reader().ReachableAddresses();
  ASSERT_TRUE(addresses.ok()) << addresses.error().message;
  ASSERT_EQ(addresses->size(), 1u);
  EXPECT_TRUE(addresses->front().IsLoopback());
}

TEST(HostReader, ScansItsHostOnce) {
  const auto process = *Process::Start({});
  const auto brief = process->host_reader().Scan(false);
  ASSERT_TRUE(brief.ok()) << brief.error().message;
  EXPECT_TRUE(brief->view.pci.empty());
  const auto full = process->host_reader().Scan(true);
  ASSERT_TRUE(full.ok()) << full.error().message;
  ASSERT_EQ(full->view.numa_nodes.size(), brief->view.numa_nodes.size());
  for (std::size_t i = 0; i < full->view.numa_nodes.size(); ++i)
    EXPECT_EQ(full->view.numa_nodes[i].cpus, brief->view.numa_nodes[i].cpus);
  EXPECT_EQ(process->host_reader().Scan(true)->view.digest(), full->view.digest());
}

}  // namespace
}  // namespace ringlet::comm
