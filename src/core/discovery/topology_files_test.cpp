// Reads all published topology files and all vectors. It is here, because topology reads no files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/value/text.hpp"
#include "os/fs/file_tree.hpp"
#include "os/process/env.hpp"
#include "topo/lint/lint.hpp"
#include "topology/xml/xml_reader.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::discovery {
namespace {

using topology::Finding;
using topology::Severity;
using topology::XmlReading;

std::string FixtureFolder() {
  const std::filesystem::path source = std::filesystem::absolute(__FILE__);
  return source.parent_path().parent_path().parent_path().parent_path() / "test/fixtures";
}

/// Paths below test/fixtures.
std::vector<std::string> TopologyFiles() {
  const os::FileTree files = os::FileTree::Open(FixtureFolder()).value();
  std::vector<std::string> paths;
  for (const char* folder : {"topologies/nvidia", "topologies/amd", "topologies/broken",
                             "topologies/graphs", "topo-vectors"}) {
    const Result<std::vector<std::string>> names = files.List(folder);
    EXPECT_TRUE(names.ok()) << folder;
    if (!names.ok()) continue;
    for (const std::string& name : *names)
      if (name.ends_with(".xml")) paths.push_back(std::string(folder) + "/" + name);
  }
  return paths;
}

std::string FixtureContent(const std::string& path) {
  return os::FileTree::Open(FixtureFolder()).value().Read(path).value();
}

bool IsGraph(const std::string& path) {
  return path.starts_with("topologies/graphs/");
}

bool IsVector(const std::string& path) {
  return path.starts_with("topo-vectors/");
}

TEST(TopologyFilesTest, AllFilesArePresent) {
  EXPECT_EQ(TopologyFiles().size(), 59u);
}

TEST(TopologyFilesTest, FilesRoundTrip) {
  for (const std::string& path : TopologyFiles()) {
    const XmlReading reading = topology::ReadXml(FixtureContent(path), path);
    EXPECT_EQ(reading.view.has_value(), !IsGraph(path)) << path;
    if (!reading.view) continue;
    const std::string written = ToXml(*reading.view);
    const XmlReading again = topology::ReadXml(written, path);
    ASSERT_TRUE(again.view.has_value()) << path << '\n' << written;
    EXPECT_EQ(*again.view, *reading.view) << path << '\n' << written;
    EXPECT_EQ(ToXml(*again.view), written) << path;
  }
}

bool Has(const std::vector<Finding>& findings, Severity severity, std::string_view rule) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.severity == severity && finding.rule == rule;
  });
}

TEST(TopologyFilesTest, EachBrokenFileIsDiagnosed) {
  struct Case {
    const char* file;
    Severity severity;
    const char* rule;
  };
  constexpr Severity kError = Severity::kError;
  for (const Case& broken : {
           Case{"a100pcie_nvlink_count0_timez", kError, "nvlink-count-0"},
           {"a100pcie_topo_fail_timez", kError, "nvlink-asymmetric"},
           {"aws_p5.48xl.v1", kError, "missing-arch"},
           {"aws_p5.48xl.v1", Severity::kWarning, "unknown-speed"},
           {"aws_p5.48xl.v1", Severity::kWarning, "missing-class"},
           {"azure_ncv4_current_selfloop", kError, "nvlink-self-loop"},
           {"azure_ndv4_v2_wrong_numa_affinity", kError, "same-affinity"},
           {"dell_xe8545_duplicate_busid", kError, "duplicate-bus-id"},
           {"modal_b200_vm_v3_pairwise_nvlink", kError, "nvlink-too-many"},
           {"modal_b200_vm_v3_pairwise_nvlink", kError, "nvlink-odd-class"},
           {"nemo_azure_ndv4_all_in_one_cpu", kError, "one-cpu"},
       }) {
    const std::string path = std::string("topologies/broken/") + broken.file + ".topo.xml";
    const topology::LintReport report = topology::LintXml(FixtureContent(path), path);
    EXPECT_TRUE(Has(report.findings, broken.severity, broken.rule)) << path << broken.rule;
  }
}

TEST(TopologyFilesTest, ValidFilesCauseNoErrors) {
  // Broken files outside topologies/broken: NCCL stops at text between elements, and at a cpu
  // without arch.
  const std::set<std::string> kBroken = {"topologies/nvidia/dgx_a100_keysight.topo.xml",
                                         "topologies/nvidia/g5.48xl.topo.xml"};
  for (const std::string& path : TopologyFiles()) {
    if (path.starts_with("topologies/broken/") || IsGraph(path)) continue;
    topology::LintReport report = topology::LintXml(FixtureContent(path), path);
    // The vectors are hand-made and have the same CPUs on all nodes.
    if (IsVector(path))
      std::erase_if(report.findings, [](const Finding& f) { return f.rule == "same-affinity"; });
    EXPECT_EQ(HasError(report.findings), kBroken.contains(path)) << path << '\n'
                                                                 << ToText(report.findings, 3);
  }
}

TEST(TopologyFilesTest, SkeletonsAreRecognised) {
  std::set<std::string> skeletons;
  for (const std::string& path : TopologyFiles()) {
    const topology::LintReport report = topology::LintXml(FixtureContent(path), path);
    if (Has(report.findings, Severity::kNote, "skeleton")) skeletons.insert(path);
  }
  std::set<std::string> expected;
  for (const char* name :
       {"nvidia/soperator_h100", "nvidia/p4d-24xl", "nvidia/p4de-24xl", "nvidia/ndv2",
        "nvidia/ndv4", "nvidia/ndv5", "nvidia/dgxa100_nic_affinity.bert", "nvidia/topo-flattened",
        "broken/azure_ndv4_v2_wrong_numa_affinity", "broken/dell_xe8545_duplicate_busid",
        "broken/nemo_azure_ndv4_all_in_one_cpu"})
    expected.insert(std::string("topologies/") + name + ".topo.xml");
  EXPECT_EQ(skeletons, expected);  // g5.48xl has no classes, so it cannot be recognised
}

/// A heading for each file and its findings, at most two per rule.
std::string Table() {
  std::string table;
  for (const std::string& path : TopologyFiles()) {
    if (IsVector(path)) continue;
    const topology::LintReport report = topology::LintXml(FixtureContent(path), "");
    table += fmt::format("{}: {}", path, report.view ? "read" : "refused");
    table +=
        report.findings.empty() ? "\n" : fmt::format(", findings: {}\n", report.findings.size());
    const std::string findings = ToText(report.findings, 2);
    for (const std::string_view line : Split(findings, '\n'))
      if (!line.empty()) table += fmt::format("  {}\n", line);
  }
  return table;
}

TEST(TopologyFilesTest, FindingsMatchTheTable) {
  if (os::ReadEnvironment().contains("RINGLET_UPDATE_GOLDENS"))
    std::ofstream(FixtureFolder() + "/topologies/findings.txt") << Table();
  EXPECT_EQ(FixtureContent("topologies/findings.txt"), Table())
      << "renew it: RINGLET_UPDATE_GOLDENS=1 discovery_test";
}

}  // namespace
}  // namespace ringlet::discovery
