// Every topology file that people ship, and every vector. Lives here because topology may not read
// files.
#include <gtest/gtest.h>

#include <filesystem>

#include "os/file_tree.hpp"
#include "topology/xml_reader.hpp"
#include "topology/xml_writer.hpp"

namespace ringlet::discovery {
namespace {

using topology::HostView;
using topology::XmlReading;

std::string FixtureFolder() {
  const std::filesystem::path source = std::filesystem::absolute(__FILE__);
  return source.parent_path().parent_path().parent_path() / "test/fixtures";
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

std::string Content(const std::string& path) {
  return os::FileTree::Open(FixtureFolder()).value().Read(path).value();
}

bool IsGraph(const std::string& path) {
  return path.starts_with("topologies/graphs/");
}

TEST(TopologyFilesTest, AllAreHere) {
  EXPECT_EQ(TopologyFiles().size(), 59u);
}

TEST(TopologyFilesTest, ReadWriteReadIsTheSameValue) {
  for (const std::string& path : TopologyFiles()) {
    const XmlReading reading = topology::ReadXml(Content(path), path);
    EXPECT_EQ(reading.view.has_value(), !IsGraph(path)) << path;
    if (!reading.view) continue;
    const std::string written = ToXml(*reading.view);
    const XmlReading again = topology::ReadXml(written, path);
    ASSERT_TRUE(again.view.has_value()) << path << '\n' << written;
    EXPECT_EQ(*again.view, *reading.view) << path << '\n' << written;
    EXPECT_EQ(ToXml(*again.view), written) << path;
  }
}

}  // namespace
}  // namespace ringlet::discovery
