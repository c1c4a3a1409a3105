#include "tool/check/topo_check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "os/fs/temp_tree_for_test.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kBad = Fixture("topologies/broken/a100pcie_nvlink_count0_timez.topo.xml");
const std::string kGood = Fixture("topologies/nvidia/dgx_a100_xla.topo.xml");

TEST(TopoCheckTest, TheExitStatusIsTheVerdict) {
  EXPECT_EQ(RunCommand({"topo", "check", kGood}).status, 0);
  EXPECT_EQ(RunCommand({"topo", "check", kBad}).status, 1);
  EXPECT_EQ(RunCommand({"topo", "check", "no/such.xml"}).status, 2);
  EXPECT_EQ(RunCommand({"topo", "check", kGood, "no/such.xml"}).status, 2);
  EXPECT_EQ(RunCommand({"topo", "check", kBad, "no/such.xml"}).status, 1);
}

TEST(TopoCheckTest, NarrowSwitchesWithoutACostAreNotes) {
  const std::string file = Fixture("topologies/nvidia/H100.topo.xml");
  const ToolRun ran = RunCommand({"topo", "check", file});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, AllOf(HasSubstr(":4:6: note: 0000:08:00.0 PCIe switch: PCIe 2.0 x16, "
                                          "6 GB/s, is far narrower than "),
                                HasSubstr("  costs: none ("), HasSubstr("8 notes\n")));
  EXPECT_EQ(RunCommand({"topo", "check", "--fail-on", "note", file}).status, 1);
  EXPECT_EQ(RunCommand({"topo", "check", "--expect", file, file}).output, file + ": healthy\n");
}

TEST(TopoCheckTest, ANarrowSwitchThatCostsBandwidthIsAWarning) {
  os::TempTree tree;
  tree.Write(
      "narrow.xml",
      R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" )"
      R"(modelid="143"><pci busid="0000:01:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" )"
      R"(link_width="1"><pci busid="0000:02:00.0" class="0x030200" link_width="16" )"
      R"(link_speed="32.0 GT/s PCIe"><gpu dev="0" sm="90" rank="0" gdr="1"/></pci></pci>)"
      R"(<pci busid="0000:11:00.0" class="0x030200" link_width="16" )"
      R"(link_speed="32.0 GT/s PCIe"><gpu dev="1" sm="90" rank="1" gdr="1"/></pci>)"
      R"(</cpu></system>)");
  const ToolRun ran = RunCommand({"topo", "check", tree.root() + "/narrow.xml"});
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("[narrow-link]"));
}

/// Returns the exit status for each XML file of a folder, by name.
std::map<std::string, int> StatusOfEach(const std::string& folder) {
  std::map<std::string, int> found;
  for (const auto& entry : std::filesystem::directory_iterator(SourceFile(folder))) {
    if (entry.path().extension() != ".xml") continue;
    found[entry.path().filename().string()] =
        RunCommand({"topo", "check", entry.path().string()}).status;
  }
  return found;
}

TEST(TopoCheckTest, HealthyFilesRaiseNoAlarm) {
  // These files contain mistakes: text between elements, and a missing arch.
  const std::set<std::string> known = {"dgx_a100_keysight.topo.xml", "g5.48xl.topo.xml"};
  std::size_t files = 0;
  for (const char* folder :
       {"machines", "test/fixtures/topologies/nvidia", "test/fixtures/topologies/amd"})
    for (const auto& [name, status] : StatusOfEach(folder)) {
      EXPECT_EQ(status, known.contains(name) ? 1 : 0) << name;
      ++files;
    }
  EXPECT_EQ(files, 24u + 23u + 5u);
}

TEST(TopoCheckTest, EachBrokenFileRaisesAnAlarm) {
  for (const auto& [name, status] : StatusOfEach("test/fixtures/topologies/broken"))
    EXPECT_EQ(status, 1) << name;
}

TEST(TopoCheckTest, ComparesWithTheExpectedMachine) {
  EXPECT_EQ(RunCommand({"topo", "check", SourceFile("machines/nebius-h100.xml"), "--expect",
                        "nebius-h100"})
                .status,
            0);
  const ToolRun less = RunCommand(
      {"topo", "check", SourceFile("machines/perlmutter-a100.xml"), "--expect", "dgx-a100"});
  EXPECT_EQ(less.status, 1);
  EXPECT_THAT(less.output, HasSubstr("4 of the 8 GPUs of dgx-a100 are present"));
  const ToolRun unknown = RunCommand({"topo", "check", kGood, "--expect", "dgx-h10"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("dgx-h100"));
}

TEST(TopoCheckTest, AFolderIsAFleetAndItsOddMachineIsNamed) {
  os::TempTree tree;
  std::filesystem::create_directory(tree.root() + "/fleet");
  for (int i = 0; i < 5; ++i)
    std::filesystem::copy_file(kGood, fmt::format("{}/fleet/node{}.xml", tree.root(), i));
  EXPECT_EQ(RunCommand({"topo", "check", tree.root() + "/fleet"}).status, 0);
  std::filesystem::copy_file(SourceFile("machines/hgx-a100-4nic.xml"),
                             tree.root() + "/fleet/other_kind.xml");
  EXPECT_EQ(RunCommand({"topo", "check", tree.root() + "/fleet"}).status, 0);
  // All ports run at half their rate, which only the comparison with other machines reveals.
  std::ifstream file(kGood);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t at; (at = text.find("speed=\"200000\"")) != std::string::npos;)
    text.replace(at, 14, "speed=\"100000\"");
  tree.Write("fleet/odd.xml", text);
  const ToolRun ran = RunCommand({"topo", "check", tree.root() + "/fleet"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("7 machines: 6 healthy, 1 with findings"),
                                HasSubstr("[nic-rate]: 1 machine"), HasSubstr("odd.xml")));
}

TEST(TopoCheckTest, MachineReadableFormatsContainOnlyFindings) {
  const ToolRun json = RunCommand({"topo", "check", "--json", kBad});
  EXPECT_EQ(json.status, 1);
  EXPECT_EQ(nlohmann::json::parse(json.output.substr(0, json.output.find('\n'))).at("severity"),
            "error");
  EXPECT_EQ(RunCommand({"topo", "check", "--json", kGood}).output, "");
  EXPECT_THAT(RunCommand({"topo", "check", "--prometheus", kBad}).output,
              testing::StartsWith("# HELP "));
  EXPECT_EQ(RunCommand({"topo", "check", "--json", "--prometheus", kBad}).status, 2);
}

TEST(TopoCheckTest, WithoutGpusAVerdictNeedsAnExpectedMachine) {
  const ToolRun ran = RunCommand({"topo", "check", "this"});
  if (ran.status == 2) {
    EXPECT_THAT(ran.output, HasSubstr("name the expected machine by --expect"));
  }
  const ToolRun expected = RunCommand({"topo", "check", "--expect", "nebius-h100"});
  EXPECT_EQ(expected.status, 1);
  EXPECT_THAT(expected.output, Not(HasSubstr("no verdict")));
}

}  // namespace
}  // namespace ringlet::cli
