#include "tool/topo/topo_gather.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "os/fs/file_tree.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "tool/tool_run_for_test.hpp"

// test/integration/topo_gather_test.py checks that a scan of the tarball gives the same view.

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

ToolRun Gather(const os::TempTree& tree, const std::string& machine, const std::string& tarball) {
  return RunCommand({"topo", "gather", "--root", tree.At(machine), "-o", tree.At(tarball)});
}

TEST(TopoGatherTest, WritesAnotherTreeIntoATarball) {
  os::TempTree tree;
  tree.Write("machine/proc/cpuinfo", "processor : 0\nvendor_id : AuthenticAMD\nSerial : 17\n");
  const ToolRun ran = Gather(tree, "machine", "x.tar");
  EXPECT_EQ(ran.status, kExitDone) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("x.tar: 1 file;"));
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  const std::string tar = files.Read("x.tar").value();
  EXPECT_THAT(tar, HasSubstr("AuthenticAMD"));
  EXPECT_EQ(tar.find("Serial"), std::string::npos);
}

TEST(TopoGatherTest, CompressesATarballWithGzip) {
  os::TempTree tree;
  tree.Write("machine/proc/cpuinfo", "processor : 0\n");
  for (const char* name : {"x.tar.gz", "x.tgz"}) {
    const ToolRun ran = Gather(tree, "machine", name);
    ASSERT_EQ(ran.status, kExitDone) << ran.errors;
    const os::FileTree files = os::FileTree::Open(tree.root()).value();
    EXPECT_THAT(files.Read(name).value(), testing::StartsWith("\x1f\x8b")) << "gzip's first bytes";
    EXPECT_EQ(std::system(("gzip -t " + tree.At(name)).c_str()), 0);
    EXPECT_FALSE(files.Read(std::string(name) + ".tar").ok()) << "what gzip was given is gone";
  }
}

TEST(TopoGatherTest, JsonCountsTheFilesAndNeedsAnOutputFile) {
  os::TempTree tree;
  tree.Write("machine/proc/cpuinfo", "processor : 0\n");
  const ToolRun ran = RunCommand(
      {"topo", "gather", "--json", "--root", tree.At("machine"), "-o", tree.At("x.tar")});
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("files"), 1);
  EXPECT_EQ(json.at("output"), tree.At("x.tar"));
  EXPECT_EQ(RunCommand({"topo", "gather", "--json", "-o", "-"}).status, kExitUsage);
}

TEST(TopoGatherTest, AnUnreadableTreeOrUnwritableFileIsAFailure) {
  os::TempTree tree;
  tree.Write("machine/proc/cpuinfo", "processor : 0\n");
  const ToolRun unwritable = Gather(tree, "machine", "no/x.tar");
  EXPECT_EQ(unwritable.status, kExitFailed);
  EXPECT_THAT(unwritable.errors, HasSubstr("no/x.tar"));
  const ToolRun missing = Gather(tree, "none", "x.tar");
  EXPECT_EQ(missing.status, kExitFailed);
  EXPECT_THAT(missing.errors, HasSubstr("none"));
  const ToolRun no_machine = Gather(tree, "", "x.tar");
  EXPECT_EQ(no_machine.status, kExitUsage);
  EXPECT_THAT(no_machine.errors, HasSubstr("not the tree of a Linux machine"));
}

}  // namespace
}  // namespace ringlet::cli
