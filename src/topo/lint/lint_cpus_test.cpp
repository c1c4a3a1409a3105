#include <gmock/gmock.h>

#include "topo/lint/lint_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;

TEST(LintCpusTest, ReportsAnUnknownProcessor) {
  const auto said = [](auto change) { return FindingLinesAfter("gpu", change); };
  EXPECT_THAT(said([](HostView&) {}), ElementsAre());
  EXPECT_THAT(said([](HostView& v) { v.cpu.arch = ""; }),
              ElementsAre("error missing-arch system/cpu[0]"));
  EXPECT_THAT(said([](HostView& v) { v.cpu.arch = "mips"; }),
              ElementsAre("warning unknown-arch system/cpu[0]"));
  EXPECT_THAT(said([](HostView& v) { v.cpu.vendor = ""; }),
              ElementsAre("error missing-vendor system/cpu[0]"));
  EXPECT_THAT(said([](HostView& v) { v.cpu.vendor = "HygonGenuine"; }),
              ElementsAre("warning unknown-vendor system/cpu[0]"));
  EXPECT_THAT(said([](HostView& v) { v.cpu.family = v.cpu.model = 0; }),
              ElementsAre("error missing-family system/cpu[0]"));
  EXPECT_THAT(said([](HostView& v) { v.cpu = {"arm64", "", 0, 0, ""}; }), ElementsAre());
  EXPECT_THAT(said([](HostView& v) {
                v.cpu = {"x86_64", "AuthenticAMD", 0, 0, ""};
              }),
              ElementsAre());
}

TEST(LintCpusTest, NumaNodesNeedSeparateCpus) {
  const auto said = [](CpuSet first, CpuSet second) {
    return FindingLinesAfter("2x(numa: gpu)", [&](HostView& v) {
      v.numa_nodes[0].cpus = first;
      v.numa_nodes[1].cpus = second;
    });
  };
  EXPECT_THAT(said(CpuSet::Of(0, 3), CpuSet::Of(4, 7)), ElementsAre());
  EXPECT_THAT(said({}, {}), ElementsAre());
  EXPECT_THAT(said(CpuSet::Of(0, 3), CpuSet::Of(0, 3)),
              ElementsAre("error same-affinity system/cpu[1]"));
  EXPECT_THAT(said(CpuSet::Of(0, 3), CpuSet::Of(3, 7)),
              ElementsAre("warning affinity-overlap system/cpu[1]"));
  EXPECT_THAT(said(CpuSet::Of(4, 7), CpuSet::Of(0, 3)),
              ElementsAre("warning numa-order system/cpu[1]"));
}

TEST(LintCpusTest, NumaNodesOfOtherHostsMayHaveTheSameCpus) {
  EXPECT_THAT(FindingLinesAfter("2x(host: gpu)", [](HostView&) {}),
              ElementsAre("note several-hosts system"));
}

TEST(LintCpusTest, ReportsAllDevicesUnderOneOfSeveralNodes) {
  const auto said = [](std::string_view words, std::string_view cpus) {
    return FindingLinesAfter(
        words, [&](HostView& v) { v.numa_nodes[0].cpus = CpuSet::Parse(cpus).value(); });
  };
  EXPECT_THAT(said("4x(switch: 2 gpu)", "0-15,32-47"), ElementsAre("error one-cpu system/cpu[0]"));
  EXPECT_THAT(said("2x(switch: 4 gpu)", "0-15,32-47"), ElementsAre("note one-cpu system/cpu[0]"));
  EXPECT_THAT(said("4x(switch: 2 gpu)", "0-47"), ElementsAre());
  EXPECT_THAT(said("2x(switch: 2 gpu)", "0-15,32-47"), ElementsAre());
}

}  // namespace
}  // namespace ringlet::topology
