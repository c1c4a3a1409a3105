#include "discovery/topology_file.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::discovery {
namespace {

using os::FileTree;
using os::TempTree;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kGood[] =
    "<system version=\"1\">\n  <cpu numaid=\"0\" affinity=\"3\" arch=\"x86_64\" "
    "vendor=\"AuthenticAMD\" familyid=\"25\" modelid=\"1\"/>\n</system>\n";

TEST(TopologyFileTest, TheNamedFileIsRead) {
  TempTree tree;
  tree.Write("etc/topo.xml", kGood);
  const FileTree files = FileTree::Open(tree.root()).value();
  const TopologyFile file = ReadTopologyFile(files, "/etc/topo.xml").value();
  ASSERT_TRUE(file.view.has_value());
  EXPECT_EQ(file.view->numa_nodes.size(), 1u);
  EXPECT_THAT(file.findings, IsEmpty());
}

TEST(TopologyFileTest, APathIsRelativeToTheCurrentDirectory) {
  TempTree tree;
  tree.Write("home/me/topo.xml", kGood).Link("proc/self/cwd", "/home/me");
  const FileTree files = FileTree::Open(tree.root()).value();
  EXPECT_TRUE(ReadTopologyFile(files, "topo.xml").value().view.has_value());
  EXPECT_TRUE(ReadTopologyFile(files, "../me/topo.xml").value().view.has_value());
  EXPECT_TRUE(ReadTopologyFile(files, "/home/me/topo.xml").value().view.has_value());
}

TEST(TopologyFileTest, ANamedFileThatCannotBeReadIsAnError) {
  TempTree tree;
  tree.Write("bad.xml", "<system version=\"1\">\n  <cpu numaid=\"0\n").Write("text", "hello");
  const FileTree files = FileTree::Open(tree.root()).value();
  const auto none = ReadTopologyFile(files, "/none.xml");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kSystem);
  EXPECT_THAT(none.error().message, HasSubstr("/none.xml"));
  const auto bad = ReadTopologyFile(files, "/bad.xml");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, Code::kInvalidArgument);
  EXPECT_THAT(bad.error().message, HasSubstr("/bad.xml:2:"));
  EXPECT_FALSE(ReadTopologyFile(files, "/text").ok());
}

TEST(TopologyFileTest, AFileOfNcclThatCannotBeReadIsAFinding) {
  TempTree tree;
  tree.Write("bad.xml", "<system").Write("conf", "NCCL_TOPO_FILE=/none.xml");
  const FileTree files = FileTree::Open(tree.root()).value();
  FileVariables conf;
  conf.Add("NCCL_TOPO_FILE=/none.xml", "/etc/nccl.conf");
  const auto without = ReadTopologyFile(files, ParseSettings({}, conf).value());
  ASSERT_TRUE(without.ok()) << without.error().message;
  EXPECT_FALSE(without->view.has_value());
  EXPECT_THAT(without->findings,
              ElementsAre(testing::AllOf(HasSubstr("NCCL_TOPO_FILE in /etc/nccl.conf: cannot open"),
                                         HasSubstr("continues without the file"))));
  const auto why = [&](const EnvMap& env) {
    return ReadTopologyFile(files, ParseSettings(env).value()).error().message;
  };
  EXPECT_THAT(why({{"RINGLET_TOPO_FILE", "/none.xml"}}),
              HasSubstr("RINGLET_TOPO_FILE: cannot open"));
  EXPECT_THAT(why({{"NCCL_TOPO_FILE", "/bad.xml"}}), HasSubstr("NCCL_TOPO_FILE: /bad.xml:1:"));
}

TEST(TopologyFileTest, TheDefaultFileIsOptional) {
  TempTree tree;
  const FileTree files = FileTree::Open(tree.root()).value();
  TopologyFile file = ReadTopologyFile(files, "").value();
  EXPECT_FALSE(file.view.has_value());
  EXPECT_THAT(file.findings, IsEmpty());
  tree.Write(kProvidedFile.substr(1), "nonsense");
  file = ReadTopologyFile(files, "").value();
  EXPECT_FALSE(file.view.has_value());
  EXPECT_THAT(file.findings, ElementsAre(HasSubstr("the file is ignored")));
  tree.Write(kProvidedFile.substr(1), kGood);
  EXPECT_TRUE(ReadTopologyFile(files, "").value().view.has_value());
}

TEST(TopologyFileTest, FindingsAreReportedUpToABound) {
  TempTree tree;
  std::string text = "<system version=\"1\">\n";
  for (int i = 0; i < 40; ++i)
    text += "<cpu numaid=\"" + std::to_string(i) + "\" affinity=\"zz\" arch=\"x86_64\"/>\n";
  tree.Write("odd.xml", text + "</system>\n");
  const FileTree files = FileTree::Open(tree.root()).value();
  const TopologyFile file = ReadTopologyFile(files, "/odd.xml").value();
  EXPECT_THAT(file.findings, SizeIs(21));
  EXPECT_THAT(file.findings.front(), HasSubstr("/odd.xml:2:"));
  EXPECT_THAT(file.findings.back(), HasSubstr("ringlet topo lint"));
}

}  // namespace
}  // namespace ringlet::discovery
