// The effects of settings for machines with GPUs, as shown by the tool for real machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "os/fs/temp_tree_for_test.hpp"
#include "tool/tool.hpp"

namespace ringlet {
namespace {

const std::string kVectors = RINGLET_FIXTURES "/topo-vectors/";
const std::string kMachines = RINGLET_FIXTURES "/topologies/nvidia/";

using Words = std::vector<std::string>;

/// Returns the output of the tool without times, with `variable` set if it is not empty.
std::string Told(const Words& words, const std::string& variable, const std::string& value) {
  if (!variable.empty()) setenv(variable.c_str(), value.c_str(), 1);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  cli::RunTool(words);
  const std::string errors = testing::internal::GetCapturedStderr();
  const std::string text = testing::internal::GetCapturedStdout() + errors;
  if (!variable.empty()) unsetenv(variable.c_str());
  return std::regex_replace(text, std::regex("[0-9.]+ (ms|us)"), "");
}

bool Changes(const std::string& variable, const std::string& value, const Words& words) {
  const std::string before = Told(words, "", ""), after = Told(words, variable, value);
  EXPECT_NE(before, "");
  if (before == after) std::printf("both: %s\n", after.c_str());
  return before != after;
}

Words Matrix(const std::string& file) {
  return {"topo", "matrix", file};
}
Words Plan(const std::string& file) {
  return {"plan", file, "--hosts", "2"};
}

/// Returns a copy of a file with words replaced.
std::string Edited(os::TempTree& tree, const std::string& file, const std::string& pattern,
                   const std::string& by) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const std::string name = std::filesystem::path(file).filename();
  tree.Write(name, std::regex_replace(text.str(), std::regex(pattern), by));
  return tree.At(name);
}

class DeviceSettingEffect : public testing::Test {
 protected:
  os::TempTree tree_;
};

TEST_F(DeviceSettingEffect, P2P_LEVEL) {
  EXPECT_TRUE(Changes("NCCL_P2P_LEVEL", "LOC", Matrix(kVectors + "pcie8-2sockets.xml")));
}
TEST_F(DeviceSettingEffect, P2P_DISABLE) {
  EXPECT_TRUE(Changes("NCCL_P2P_DISABLE", "1", Matrix(kVectors + "pcie8-2sockets.xml")));
}
TEST_F(DeviceSettingEffect, NVB_DISABLE) {
  EXPECT_TRUE(Changes("NCCL_NVB_DISABLE", "1", Matrix(kMachines + "ucb_dgx1v.topo.xml")));
}
TEST_F(DeviceSettingEffect, NET_DISABLE_INTRA) {
  EXPECT_TRUE(Changes("NCCL_NET_DISABLE_INTRA", "1", Matrix(kVectors + "pcie12-2persw.xml")));
}
TEST_F(DeviceSettingEffect, PXN_DISABLE) {
  EXPECT_TRUE(Changes("NCCL_PXN_DISABLE", "1", Matrix(kMachines + "H100.topo.xml")));
}
TEST_F(DeviceSettingEffect, PXN_C2C) {
  EXPECT_TRUE(Changes("NCCL_PXN_C2C", "0", Matrix(kVectors + "mnnvl-2x4.xml")));
}
TEST_F(DeviceSettingEffect, NET_GDR_LEVEL) {
  EXPECT_TRUE(Changes("NCCL_NET_GDR_LEVEL", "LOC", Matrix(kMachines + "H100.topo.xml")));
}
TEST_F(DeviceSettingEffect, NET_GDR_READ) {
  EXPECT_TRUE(Changes("NCCL_NET_GDR_READ", "0", Matrix(kMachines + "H100.topo.xml")));
}
TEST_F(DeviceSettingEffect, NET_GDR_C2C) {
  EXPECT_TRUE(Changes("NCCL_NET_GDR_C2C", "0", Matrix(kVectors + "mnnvl-2x4.xml")));
}
TEST_F(DeviceSettingEffect, NETDEVS_POLICY) {
  EXPECT_TRUE(Changes("NCCL_NETDEVS_POLICY", "MAX:1", Plan(kVectors + "gpu2-nic6.xml")));
}
TEST_F(DeviceSettingEffect, IGNORE_DISABLED_P2P) {
  EXPECT_TRUE(Changes("NCCL_IGNORE_DISABLED_P2P", "2",
                      {"plan", kMachines + "dgx_a100_xla.topo.xml", "--no-peer-access"}));
}

TEST_F(DeviceSettingEffect, NET_GDR_MLOPART) {
  const std::string halves =
      Edited(tree_, kVectors + "gpu4-nic4.xml", "<gpu ", "<gpu mlopart=\"0\" ");
  EXPECT_TRUE(Changes("NCCL_NET_GDR_MLOPART", "1", Matrix(halves)));
}

TEST_F(DeviceSettingEffect, NET_MERGE_LEVEL) {
  EXPECT_TRUE(Changes("NCCL_NET_MERGE_LEVEL", "LOC", Plan(kMachines + "H100.topo.xml")));
}
TEST_F(DeviceSettingEffect, NET_MERGE_POLICY) {
  EXPECT_TRUE(Changes("NCCL_NET_MERGE_POLICY", "RAIL", Matrix(kMachines + "H100.topo.xml")));
}
TEST_F(DeviceSettingEffect, NET_FORCE_MERGE) {
  EXPECT_TRUE(
      Changes("NCCL_NET_FORCE_MERGE", "mlx5_0,mlx5_3", Matrix(kMachines + "H100.topo.xml")));
}
TEST_F(DeviceSettingEffect, IB_HCA) {
  EXPECT_TRUE(Changes("NCCL_IB_HCA", "=mlx5_0,mlx5_1", Plan(kMachines + "H100.topo.xml")));
}
TEST_F(DeviceSettingEffect, CROSS_NIC) {
  EXPECT_TRUE(
      Changes("NCCL_CROSS_NIC", "0",
              {"plan", kVectors + "nvswitch8-sm90.xml", "--hosts", "2", "--policy", "compat"}));
}
TEST_F(DeviceSettingEffect, NVLS_ENABLE) {
  EXPECT_TRUE(Changes("NCCL_NVLS_ENABLE", "0",
                      {"predict", "all_reduce", "--topo", kMachines + "H100.topo.xml"}));
}

// A search with the limit finds other channels than the first ones of many.
TEST_F(DeviceSettingEffect, ChannelLimitsBoundTheSearch) {
  const Words plan = {"plan", kVectors + "gpu4-nic4.xml", "--json"};
  EXPECT_NE(Told(plan, "", "").find("\"channel_count\": 4"), std::string::npos);
  const std::string two = Told(plan, "NCCL_MAX_NCHANNELS", "4");
  EXPECT_NE(two.find("\"channel_count\": 2"), std::string::npos) << two;
  EXPECT_NE(two.find("\"total_gb_s\": 24.0"), std::string::npos) << two;
  const std::string eight = Told(plan, "NCCL_MIN_NCHANNELS", "16");
  EXPECT_NE(eight.find("\"channel_count\": 8"), std::string::npos) << eight;
}

TEST_F(DeviceSettingEffect, NamesAnUnsupportedVariableOnce) {
  const Words plan = {"plan", kVectors + "gpu4-nic4.xml", "--hosts", "2"};
  const std::string told = Told(plan, "NCCL_COLLNET_ENABLE", "1");
  const std::string sentence =
      "ignored here, although NCCL's plans depend on it: NCCL_COLLNET_ENABLE\n";
  ASSERT_NE(told.find(sentence), std::string::npos) << told;
  EXPECT_EQ(told.find(sentence), told.rfind(sentence));
  EXPECT_FALSE(Changes("NCCL_IB_TC", "3", plan));
}

TEST_F(DeviceSettingEffect, ALGO) {
  EXPECT_TRUE(Changes("NCCL_ALGO", "ring",
                      {"predict", "all_reduce", "--topo", kMachines + "dgx_a100_xla.topo.xml"}));
}
TEST_F(DeviceSettingEffect, PROTO) {
  EXPECT_TRUE(Changes("NCCL_PROTO", "LL",
                      {"predict", "all_reduce", "--topo", kMachines + "dgx_a100_xla.topo.xml"}));
}
TEST_F(DeviceSettingEffect, PLAN_POLICY) {
  EXPECT_TRUE(Changes("RINGLET_PLAN_POLICY", "compat", Plan(kMachines + "dgx_a100_xla.topo.xml")));
}
TEST_F(DeviceSettingEffect, MAX_NCHANNELS) {
  EXPECT_TRUE(Changes("NCCL_MAX_NCHANNELS", "1", Plan(kMachines + "3090x8_panlichen.topo.xml")));
}
TEST_F(DeviceSettingEffect, MAX_NRINGS) {
  EXPECT_TRUE(Changes("NCCL_MAX_NRINGS", "1", Plan(kMachines + "3090x8_panlichen.topo.xml")));
}
TEST_F(DeviceSettingEffect, MAX_CTAS) {
  EXPECT_TRUE(Changes("NCCL_MAX_CTAS", "1", Plan(kMachines + "3090x8_panlichen.topo.xml")));
}

const Words kCollective = {"explain", "all_reduce", "-n", "4", "-b", "1M", "--hosts", "2"};

TEST_F(DeviceSettingEffect, HOST_ALGO) {
  EXPECT_TRUE(Changes("RINGLET_HOST_ALGO", "ring", kCollective));
}
TEST_F(DeviceSettingEffect, TUNE_FILE) {
  tree_.Write("tune", "ringlet-tuning 1\nall_reduce ranks 4 hosts 2 bytes any ring\n");
  EXPECT_TRUE(Changes("RINGLET_TUNE_FILE", tree_.At("tune"), kCollective));
}

// Plans also follow the environment's file, unless overridden.
TEST_F(DeviceSettingEffect, AConfigurationFileHasTheEffectOfTheEnvironment) {
  tree_.Write("conf", "NCCL_P2P_DISABLE=1\n");
  EXPECT_TRUE(Changes("NCCL_CONF_FILE", tree_.At("conf"), Matrix(kVectors + "pcie8-2sockets.xml")));
}

}  // namespace
}  // namespace ringlet
