#include "tool/check/check_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

topology::Defect SlowGpu(std::uint32_t number) {
  topology::Defect defect{.rule = &topology::DefectRuleOf("gpu-pcie")};
  defect.where = "0000:5b:00." + std::to_string(number);
  defect.name = "GPU" + std::to_string(number);
  defect.reason = "PCIe 3.0 x8";
  defect.cure = "reset it";
  defect.severity = defect.rule->severity;
  return defect;
}

CheckedMachine Sick(const std::string& title, std::uint32_t gpus) {
  CheckedMachine machine{.title = title};
  for (std::uint32_t i = 0; i < gpus; ++i) machine.defects.push_back(SlowGpu(i));
  machine.costs.each.resize(gpus);
  machine.costs.each[0] = DefectCost{2, {24'000}, {48'000}};
  return machine;
}

TEST(CheckReportTest, AFindingNamesPlaceReasonCostAndRemedy) {
  EXPECT_EQ(MachineReport(Sick("node.xml", 1), false),
            "node.xml: error: 0000:5b:00.0 GPU0: PCIe 3.0 x8 [gpu-pcie]\n"
            "  costs: 24 of 48 GB/s of all-reduce over 2 hosts\n"
            "  to do: drain: reset it\n"
            "node.xml: 1 error; to do: drain\n");
  EXPECT_EQ(MachineReport({.title = "node.xml"}, false), "node.xml: healthy\n");
  EXPECT_EQ(MachineReport({.title = "node.xml", .refusal = "no XML"}, false),
            "node.xml: no verdict: no XML\n");
}

TEST(CheckReportTest, ShortensManyFindingsOfARule) {
  EXPECT_THAT(
      MachineReport(Sick("n", 8), false),
      AllOf(HasSubstr("and 5 more [gpu-pcie]: 0000:5b:00.3 GPU3, "), HasSubstr("8 errors")));
  EXPECT_THAT(MachineReport(Sick("n", 8), true), Not(HasSubstr(" more ")));
}

TEST(CheckReportTest, GroupsAFleetByKindOfDefect) {
  std::vector<CheckedMachine> machines(12, {.title = "good.xml"});
  machines.push_back(Sick("sick.xml", 2));
  machines.push_back({.title = "torn.xml", .refusal = "no XML"});
  EXPECT_EQ(FleetReport(machines, false),
            "14 machines: 12 healthy, 1 with findings, 1 without a verdict\n"
            "\n"
            "error, drain: GPUs with slower PCIe than their peers [gpu-pcie]: 1 machine\n"
            "  sick.xml: 0000:5b:00.0 GPU0: PCIe 3.0 x8; costs 24 of 48 GB/s of all-reduce over 2 "
            "hosts; and 1 more\n"
            "\n"
            "no verdict:\n"
            "  torn.xml: no XML\n");
}

TEST(CheckReportTest, NamesTheFirstOfManyMachines) {
  const std::vector<CheckedMachine> machines(25, Sick("sick.xml", 1));
  EXPECT_THAT(FleetReport(machines, false), HasSubstr("  and 15 more; --all shows them\n"));
  EXPECT_THAT(FleetReport(machines, true), Not(HasSubstr("--all")));
}

TEST(CheckReportTest, JsonHasALineForEachFinding) {
  const std::string text =
      CheckJson({Sick("a.xml", 2), {.title = "good.xml"}, {.title = "torn.xml", .refusal = "no"}});
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  const auto first = nlohmann::json::parse(text.substr(0, text.find('\n')));
  EXPECT_EQ(first.at("machine"), "a.xml");
  EXPECT_EQ(first.at("rule"), "gpu-pcie");
  EXPECT_EQ(first.at("action"), "drain");
  EXPECT_EQ(first.at("where"), "0000:5b:00.0");
  EXPECT_EQ(first.at("cost").at("lost_gb_per_s"), 24.0);
  EXPECT_THAT(text, AllOf(HasSubstr("\"cost\":null"), HasSubstr("\"rule\":\"no-verdict\"")));
}

}  // namespace
}  // namespace ringlet::cli
