#include "topology/finding/finding.hpp"

#include <gtest/gtest.h>

namespace ringlet::topology {
namespace {

Finding SampleFinding(TextPosition at) {
  return {.severity = Severity::kWarning,
          .rule = "odd",
          .file = "a.xml",
          .at = at,
          .path = "system",
          .reason = "it is odd",
          .cure = "make it even"};
}

TEST(FindingTest, TextHasALineWithAllParts) {
  EXPECT_EQ(ToText(SampleFinding({3, 7})),
            "a.xml:3:7: warning: system: it is odd; make it even [odd]");
  EXPECT_EQ(ToText({.severity = Severity::kError,
                    .rule = "x",
                    .file = "",
                    .at = {},
                    .path = "",
                    .reason = "no",
                    .cure = ""}),
            "error: no [x]");
}

TEST(FindingTest, FindingsOfARuleAreCountedBeyondABound) {
  const std::vector<Finding> findings(4, SampleFinding({1, 1}));
  const std::string line = ToText(findings[0]) + "\n";
  EXPECT_EQ(ToText(findings, 4), line + line + line + line);
  EXPECT_EQ(ToText(findings, 1), line + "and 3 more of [odd]\n");
}

TEST(FindingTest, AreSortedByPlaceAndBounded) {
  Findings findings;
  findings.Add(SampleFinding({2, 1}));
  findings.Add(SampleFinding({1, 9}));
  const std::vector<Finding> sorted = findings.Take();
  ASSERT_EQ(sorted.size(), 2u);
  EXPECT_EQ(sorted[0].at.line, 1u);
  for (std::size_t i = 0; i < Findings::kMax + 5; ++i) findings.Add(SampleFinding({1, 1}));
  const std::vector<Finding> many = findings.Take();
  ASSERT_EQ(many.size(), Findings::kMax + 1);
  EXPECT_EQ(many.back().reason, "5 more findings are not shown");
  for (std::size_t i = 0; i < Findings::kMax; ++i) findings.Add(SampleFinding({1, 1}));
  EXPECT_TRUE(findings.full(Severity::kWarning));
  Finding error = SampleFinding({2, 1});
  error.severity = Severity::kError;
  findings.Add(error);
  EXPECT_EQ(findings.Take().back().severity, Severity::kError);
}

TEST(FindingTest, PositionsFallBackToTheElement) {
  Positions positions;
  const Part part{PartKind::kPci, 3};
  EXPECT_EQ(positions.Of(part), TextPosition());
  positions.Set(part, "", {1, 2});
  positions.Set(part, "class", {1, 9});
  EXPECT_EQ(positions.Of(part, "class"), (TextPosition{1, 9}));
  EXPECT_EQ(positions.Of(part, "busid"), (TextPosition{1, 2}));
}

TEST(FindingTest, EveryPartHasAPath) {
  HostView view{.name = "", .cpu = {}, .numa_nodes = {{}, {}}, .nets = {}};
  view.numa_nodes[1].id = kUnknownNuma;
  view.pci.push_back({.parent = {PartKind::kNuma, 1}, .bus = BusId::Of(0, 1, 0, 0)});
  view.pci.push_back({.parent = {PartKind::kPci, 0}, .bus = BusId::Of(0, 7, 0, 0)});
  view.pci[1].peers = {BusId::Of(0, 1, 0, 0)};
  view.gpus = {{.pci = 1, .gcn = "", .links = {{}}, .c2c = {{}}}};
  view.nics = {{{PartKind::kNuma, 0}}};
  view.nets = {{"eth0", std::nullopt, std::nullopt, 0}, {"eth1", std::nullopt, std::nullopt}};
  const std::string pci = "system/cpu[-1]/pci[0000:01:00.0]/pci[0000:07:00.0]";
  EXPECT_EQ(PathOf(view, {PartKind::kSystem}), "system");
  EXPECT_EQ(PathOf(view, {PartKind::kPci, 1}), pci);
  EXPECT_EQ(PathOf(view, {PartKind::kPciLink, 1, 0}), pci + "/pcilink[0000:01:00.0]");
  EXPECT_EQ(PathOf(view, {PartKind::kGpuLink, 0, 0}), pci + "/gpu/nvlink[not visible]");
  EXPECT_EQ(PathOf(view, {PartKind::kC2c, 0, 0}), pci + "/gpu/c2c");
  EXPECT_EQ(PathOf(view, {PartKind::kNet, 0}), "system/cpu[0]/nic/net[eth0]");
  EXPECT_EQ(PathOf(view, {PartKind::kNet, 1}), "system/net[eth1]");
  view.gpus.push_back({.pci = 1, .rank = 4, .gcn = ""});
  EXPECT_EQ(PathOf(view, {PartKind::kGpu, 1}), pci + "/gpu[rank 4]");
}

}  // namespace
}  // namespace ringlet::topology
