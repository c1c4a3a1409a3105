#include "tool/topo/graph_lint.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tool/input/topo_source.hpp"
#include "tool/tool_run_for_test.hpp"
#include "topo/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using topology::Severity;

topology::HostView ViewOf(const std::string& fixture) {
  return LoadTopology({.file = Fixture(fixture), .root = {}, .synthetic = {}})->view;
}

std::string GraphOf(const std::string& fixture) {
  return ReadUserFile(Fixture(fixture), 1 << 20).value();
}

/// Returns a graph file with one ring of four GPUs.
std::string RingOfFour(std::string_view rate) {
  std::string text =
      "<graphs version=\"1\"><graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"1\" "
      "speedintra=\"" +
      std::string(rate) + "\" speedinter=\"" + std::string(rate) +
      "\" latencyinter=\"0\" typeintra=\"SYS\" typeinter=\"PIX\" samechannels=\"0\"><channel>";
  for (int i = 0; i < 4; ++i) text += "<gpu dev=\"" + std::to_string(i) + "\"/>";
  return text + "</channel></graph></graphs>";
}

TEST(GraphLintTest, AcceptsAGraphOfItsOwnMachine) {
  for (const char* name : {"perlmutter_a100_nid001056", "hgx_h200_8x_vastai", "hgx_b200_8x_vastai"})
    EXPECT_TRUE(LintGraph(ViewOf(fmt::format("topologies/nvidia/{}.topo.xml", name)),
                          GraphOf(fmt::format("topologies/graphs/{}.graph.xml", name)), "g")
                    .empty())
        << name;
}

TEST(GraphLintTest, AGraphWithMoreGpusNamesTheFirstMissingOne) {
  const auto findings = LintGraph(topology::ParseSynthetic("2 gpu a100-pcie pairs").value(),
                                  RingOfFour("12"), "g.xml");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_EQ(findings[0].rule, "graph");
  EXPECT_EQ(findings[0].at.line, 1u);
  EXPECT_THAT(findings[0].reason, HasSubstr("2"));
}

TEST(GraphLintTest, AGraphAboveTheBandwidthOfTheLinksIsAnError) {
  const topology::HostView view = topology::ParseSynthetic("4 gpu a100-pcie").value();
  const auto findings = LintGraph(view, RingOfFour("200"), "g.xml");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "graph-too-fast");
}

TEST(GraphLintTest, AGraphFarBelowTheSearchOfNcclIsAWarning) {
  const topology::HostView view = topology::ParseSynthetic("4 gpu a100-sxm4 mesh").value();
  const auto findings = LintGraph(view, RingOfFour("12"), "g.xml");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "graph-slow");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
}

TEST(GraphLintTest, ReportsThatASkeletonCannotBeChecked) {
  const auto findings =
      LintGraph(ViewOf("topologies/nvidia/ndv4.topo.xml"), RingOfFour("12"), "g.xml");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].reason, HasSubstr("cannot be checked"));
}

TEST(GraphLintTest, DistinguishesTopologiesFromOtherXml) {
  EXPECT_TRUE(LooksLikeTopology("<?xml version='1'?>\n<!-- <a> -->\n<system version=\"1\"><cpu"));
  EXPECT_TRUE(LooksLikeTopology("<system>\n<cpu/>"));
  EXPECT_FALSE(LooksLikeTopology("<systems><cpu/>"));
  EXPECT_FALSE(LooksLikeTopology("<system><user/>"));
  EXPECT_FALSE(LooksLikeTopology("<graphs version=\"1\"/>"));
  EXPECT_FALSE(LooksLikeTopology(""));
  EXPECT_FALSE(LooksLikeTopology("<!-- "));
}

}  // namespace
}  // namespace ringlet::cli
