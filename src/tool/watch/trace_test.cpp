#include "tool/watch/trace.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "os/fs/temp_tree_for_test.hpp"
#include "tool/tool_run_for_test.hpp"
#include "watch/traces_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using watch::TraceForTest;

class TraceCommand : public testing::Test {
 protected:
  void Write(const watch::RankTrace& trace) {
    files_.Write("traces/" + FileNameOf(trace), ToJson(trace));
  }
  ToolRun Run(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), {"trace", files_.At("traces")});
    return RunCommand(words);
  }
  nlohmann::json Read(const std::string& path) const {
    std::ifstream file(files_.At(path));
    return nlohmann::json::parse(file);
  }
  os::TempTree files_;
};

TEST_F(TraceCommand, ComparesTheTracesOfAFolder) {
  Write(TraceForTest(0, 2, 5));
  Write(TraceForTest(1, 2, 5));
  const ToolRun ran = Run();
  EXPECT_EQ(ran.status, kExitDone) << ran.errors;
  EXPECT_THAT(ran.output, StartsWith("communicator 00000000000000ab, 2 ranks, 2 traces\n"));
  EXPECT_EQ(nlohmann::json::parse(Run({"--json"}).output)[0]["ranks"], 2);
}

TEST_F(TraceCommand, ADivergenceIsAFailure) {
  Write(TraceForTest(0, 2, 5));
  Write(TraceForTest(1, 2, 4));
  const ToolRun ran = Run();
  EXPECT_EQ(ran.status, kExitFailed);
  EXPECT_THAT(ran.output, HasSubstr("first divergence: operation 4"));
}

TEST_F(TraceCommand, WritesTheFormatsOfOtherTools) {
  Write(TraceForTest(0, 2, 5));
  Write(TraceForTest(1, 2, 5));
  const ToolRun ran =
      Run({"--perfetto", files_.At("p.json"), "--flight-recorder", files_.At("recorder")});
  EXPECT_EQ(ran.status, kExitDone) << ran.errors;
  EXPECT_EQ(Read("p.json")["traceEvents"].size(), 2u * (5 + 2));
  EXPECT_EQ(Read("recorder/rank_1.json")["entries"].size(), 5u);
}

TEST_F(TraceCommand, NamesFilesThatAreNotTraces) {
  files_.Write("traces/other.json", "{}");
  const ToolRun ran = Run();
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("other.json: it is not a trace of a rank"));
}

TEST_F(TraceCommand, AFolderWithoutTracesAndAMissingFileAreNamed) {
  files_.Write("traces/notes.txt", "");
  EXPECT_THAT(Run().errors, HasSubstr("no trace found"));
  const ToolRun missing = RunCommand({"trace", files_.At("nothing.json")});
  EXPECT_NE(missing.status, kExitDone);
  EXPECT_THAT(missing.errors, HasSubstr("nothing.json"));
  EXPECT_EQ(RunCommand({"trace"}).status, kExitUsage);
}

}  // namespace
}  // namespace ringlet::cli
