#include "frontends/cli/topo/topo_gather.hpp"

#include <gmock/gmock.h>

#include "frontends/cli/tool.hpp"
#include "os/fs/file_tree.hpp"
#include "os/fs/temp_tree_for_test.hpp"

// That a scan of the tarball gives the same view is tested in test/integration/topo_gather_test.py.

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(TopoGatherTest, AnotherTreeIsWrittenIntoATarball) {
  os::TempTree tree;
  tree.Write("machine/proc/cpuinfo", "processor : 0\nvendor_id : AuthenticAMD\nSerial : 17\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(RunTool({"topo", "gather", "--root", tree.At("machine"), "-o", tree.At("x.tar")}), 0);
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_THAT(said, HasSubstr("x.tar: 1 file;"));
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  const std::string tar = files.Read("x.tar").value();
  EXPECT_THAT(tar, HasSubstr("AuthenticAMD"));
  EXPECT_EQ(tar.find("Serial"), std::string::npos);
}

TEST(TopoGatherTest, WhatCannotBeReadOrWrittenIsAFailure) {
  os::TempTree tree;
  tree.Write("machine/proc/cpuinfo", "processor : 0\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunTool({"topo", "gather", "--root", tree.At("machine"), "-o", tree.At("no/x.tar")}),
            kExitFailed);
  EXPECT_EQ(RunTool({"topo", "gather", "--root", tree.At("none"), "-o", tree.At("x.tar")}),
            kExitFailed);
  EXPECT_EQ(RunTool({"topo", "gather", "--root", tree.root(), "-o", tree.At("x.tar")}), kExitUsage);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("no/x.tar"));
  EXPECT_THAT(said, HasSubstr("none"));
  EXPECT_THAT(said, HasSubstr("not the tree of a Linux machine"));
}

}  // namespace
}  // namespace ringlet::cli
