#include "tool/draw/drawn_machine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "os/fs/temp_tree_for_test.hpp"
#include "tool/tool_run_for_test.hpp"
#include "topo/edit/synthetic.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Writes a machine with eight GPUs. The fourth has half the PCIe lanes.
std::string SickMachine(os::TempTree& files) {
  topology::HostView view =
      topology::ParseSynthetic("2x(numa: 2x(switch: 2 gpu h100-sxm5 switch, 1 nic 400g))").value();
  view.pci[view.gpus[3].pci].link_width = 8;
  files.Write("sick.xml", ToXml(view));
  return files.root() + "/sick.xml";
}

TEST(DrawnMachineTest, FindingsOfTheCheckAreColored) {
  os::TempTree files;
  const DrawnMachine machine =
      DrawMachine({.file = SickMachine(files), .root = {}, .synthetic = {}}, {.paths = true})
          .value();
  std::vector<std::string> outlined;
  for (const Box& box : machine.drawing.boxes)
    if (!box.outline.empty()) outlined.push_back(box.title);
  ASSERT_EQ(outlined.size(), 1u);
  const auto color = std::ranges::find_if(machine.drawing.lines, [](const Polyline& line) {
    return !line.color.empty() && line.title.find("gen5 x8") != std::string::npos;
  });
  EXPECT_NE(color, machine.drawing.lines.end()) << "the link of a slow GPU has its color";
  EXPECT_THAT(outlined[0], HasSubstr("; error: "));
  EXPECT_THAT(machine.drawing.words, Contains(testing::Field(&Words::text, HasSubstr("gen5 x8"))));
  EXPECT_THAT(machine.drawing.words, Contains(testing::Field(&Words::text, "error of topo check")));
  const auto findings = machine.page().findings;
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].node.has_value());
  EXPECT_THAT(findings[0].text, HasSubstr("GPU3"));
}

TEST(DrawnMachineTest, NotesBelowNameWhatThePictureOmits) {
  const DrawnMachine machine =
      DrawMachine({.file = Fixture("topologies/nvidia/ndv4.topo.xml"), .root = {}, .synthetic = {}},
                  {})
          .value();
  ASSERT_FALSE(machine.told.empty());
  const Words& last = machine.drawing.words.back();
  EXPECT_THAT(machine.told.back(), testing::StartsWith(last.text.substr(0, 20)));
  EXPECT_LT(last.y, machine.drawing.height);
}

TEST(DrawnMachineTest, ComparesAMachineWithAnExpectedOne) {
  const TopoSource whole{
      .file = Fixture("topo-vectors/nvswitch8-sm90.xml"), .root = {}, .synthetic = {}};
  const DrawnMachine expected = DrawMachine(whole, {.title = "the first"}).value();
  EXPECT_TRUE(expected.defects.empty());
  EXPECT_TRUE(DrawMachine(whole, {.expected = &expected})->defects.empty());
  DrawnMachine fewer_ports = DrawMachine(whole, {}).value();
  fewer_ports.view.nets.push_back(fewer_ports.view.nets.back());
  fewer_ports.view.gpus[0].links[0].count += 1;
  const auto found = DrawMachine(whole, {.expected = &fewer_ports})->defects;
  EXPECT_FALSE(found.empty());
}

TEST(DrawnMachineTest, FindsPathsOnlyForPages) {
  const TopoSource source{
      .file = Fixture("topo-vectors/pcie4-1nic.xml"), .root = {}, .synthetic = {}};
  EXPECT_EQ(DrawMachine(source, {.paths = true})->paths.Of(topology::NodeKind::kGpu).size(), 4u);
  EXPECT_EQ(DrawMachine(source, {.title = "mine"})->paths.bytes(), topology::Paths().bytes());
  EXPECT_EQ(DrawMachine(source, {.title = "mine"})->title, "mine");
}

TEST(DrawnMachineTest, TheFileEndingChoosesThePage) {
  os::TempTree files;
  const std::string sick = SickMachine(files), page = files.root() + "/x.html";
  const auto text = [&] {
    std::ifstream file(page);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(RunCommand({"topo", "draw", sick, "-o", page}).status, 0);
  EXPECT_THAT(text(), testing::AllOf(testing::StartsWith("<!doctype html>"), HasSubstr("GPU3")));
  EXPECT_EQ(RunCommand({"plan", "draw", sick, "--policy", "compat", "-o", page}).status, 0);
  EXPECT_THAT(text(), HasSubstr("data-group=\"ring"));
  const ToolRun diff =
      RunCommand({"topo", "diff", sick, Fixture("topo-vectors/pcie4-1nic.xml"), "-o", page});
  EXPECT_EQ(diff.status, 1) << "they differ";
  EXPECT_THAT(text(), HasSubstr("\"differences\":[\""));
  EXPECT_THAT(RunCommand({"topo", "diff", sick, sick, "-o", "x.svg"}).errors, HasSubstr(".html"));
  EXPECT_THAT(RunCommand({"topo", "draw", sick, "-o", "x.pdf"}).errors,
              HasSubstr(".svg and .png and .html"));
  EXPECT_NE(RunCommand({"topo", "draw", sick, "-o", "/nowhere/x.html"}).status, 0);
}

}  // namespace
}  // namespace ringlet::cli
