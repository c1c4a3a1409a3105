#include "tool/emulate/traffic.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "os/fs/temp_tree_for_test.hpp"
#include "tool/emulate/traffic_for_test.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class TrafficCommandTest : public testing::Test {
 protected:
  void Write(std::vector<std::pair<std::string, TrafficFile>> files) {
    for (const auto& [path, file] : files) files_.Write(path, TextForTest(file));
  }
  ToolRun Run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"traffic", files_.At("t")});
    return RunCommand(words);
  }
  os::TempTree files_;
};

TEST_F(TrafficCommandTest, PrintsTheFolderAsTextOrJson) {
  Write(TrafficForTest());
  const ToolRun text = Run({"--links", "1"});
  EXPECT_EQ(text.status, kExitDone) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("and 5 links that are less busy"));
  const ToolRun json = Run({"--json"});
  EXPECT_EQ(json.status, kExitDone);
  EXPECT_EQ(nlohmann::json::parse(json.output)["links"].size(), 6u);
}

TEST_F(TrafficCommandTest, FindingsFailTheCommand) {
  auto files = TrafficForTest();
  files[0].second.links[0].planned_bytes += 1;
  Write(files);
  EXPECT_EQ(Run({}).status, kExitFailed);
  const ToolRun json = Run({"--json"});
  EXPECT_EQ(json.status, kExitFailed);
  EXPECT_EQ(nlohmann::json::parse(json.output)["findings"].size(), 1u);
}

TEST_F(TrafficCommandTest, NamesWrongArgumentsAndFiles) {
  EXPECT_EQ(Run({}).status, kExitFailed) << "there is no folder";
  Write(TrafficForTest());
  EXPECT_EQ(Run({"--json", "-o", "-"}).status, kExitUsage);
  EXPECT_EQ(Run({"-o", "traffic.jpeg"}).status, kExitUsage);
  files_.Write("t/notes.txt", "");
  const ToolRun ran = Run({});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("t/notes.txt"));
}

TEST_F(TrafficCommandTest, APictureNeedsTheNameOfTheMachine) {
  auto files = TrafficForTest();
  for (auto& [path, file] : files) file.links.clear();
  Write(files);
  const std::string machine = Fixture("topo-vectors/pcie4-1nic.xml");
  const ToolRun unnamed = Run({"-o", "-"});
  EXPECT_EQ(unnamed.status, kExitUsage);
  EXPECT_THAT(unnamed.errors, HasSubstr("name its topology file with --machine"));
  const ToolRun printed = Run({"-o", "-", "--machine", machine});
  EXPECT_EQ(printed.status, kExitDone) << printed.errors;
  EXPECT_THAT(printed.output, StartsWith("<svg "));
  const ToolRun written = Run({"-o", files_.At("p.svg"), "--machine", machine, "--title", "mine"});
  EXPECT_THAT(written.output, StartsWith("# 2 ranks"));
  std::ifstream file(files_.At("p.svg"));
  const std::string svg(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(svg, HasSubstr(">mine</text>"));
}

}  // namespace
}  // namespace ringlet::cli
