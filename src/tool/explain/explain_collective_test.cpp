#include "tool/explain/explain_collective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ExplainCollective, PrintsTheChoiceItsReasonsAndTheStepsOfEveryRank) {
  const std::string text = CollectiveText({.ranks = 6, .bytes = 8}, {});
  EXPECT_THAT(text, AllOf(HasSubstr("all_reduce of 8 bytes, 2 floats a call, among 6 ranks"),
                          HasSubstr("us  chosen"), HasSubstr("  ring "), HasSubstr("Rank 5: "),
                          HasSubstr("send 2 elements")));
  EXPECT_THAT(text, Not(HasSubstr("between hosts")));
}

TEST(ExplainCollective, OffersOperationsWithAChoiceOfAlgorithms) {
  const ToolRun help = RunCommand({"explain", "--help"});
  for (std::size_t i = 0; i < collective::kCallKinds; ++i) {
    const auto kind = static_cast<collective::CallKind>(i);
    const bool messages =
        kind == collective::CallKind::kAllToAllV || kind == collective::CallKind::kSendReceive;
    const std::string name(Name(kind));
    const bool offered = help.output.find("\n  " + name + " ") != std::string::npos ||
                         help.output.find("\n  " + name + ",") != std::string::npos;
    EXPECT_NE(offered, messages) << name;
    if (messages) continue;
    const ToolRun ran = RunCommand({"explain", name, "-n", "4", "-b", "4K", "--root", "3"});
    EXPECT_EQ(ran.status, 0) << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr(name + " of 4096 bytes"));
  }
}

TEST(ExplainCollective, ShowsASingleRankOnRequest) {
  const std::string text =
      CollectiveText({.ranks = 8, .hosts = 2, .bytes = 1 << 20, .rank = 3}, {});
  EXPECT_THAT(text, AllOf(HasSubstr("Rank 3: "), HasSubstr("between hosts"),
                          HasSubstr("hierarchical"), Not(HasSubstr("Rank 2: "))));
}

TEST(ExplainCollective, ShowsThePartsOnAHostAndBetweenHosts) {
  const std::string text = CollectiveText(
      {.ranks = 8, .hosts = 2, .bytes = 1 << 20, .rank = 3, .shares_memory = true}, {});
  EXPECT_THAT(text, AllOf(HasSubstr("hierarchical_shared"), HasSubstr("Rank 3: 3 parts"),
                          HasSubstr("reduce_scatter of 65536 elements through the memory of the "
                                    "host"),
                          HasSubstr("to rank 7 on channel 0")));
}

TEST(ExplainCollective, TheSizeIsThatOfTheLargerBuffer) {
  EXPECT_THAT(
      CollectiveText({.kind = collective::CallKind::kAllGather, .ranks = 4, .bytes = 64}, {}),
      HasSubstr("64 bytes, 4 floats a call"));
}

TEST(ExplainCollective, ShowsTheAlgorithmsThroughSharedMemoryAndTheChoice) {
  CollectiveQuestion question{.ranks = 4, .bytes = 1 << 20, .shares_memory = true};
  collective::Tuner tuner;
  EXPECT_THAT(CollectiveText(question, tuner),
              AllOf(HasSubstr("6144  one_shot"), HasSubstr("any size  adaptive"),
                    testing::ContainsRegex("adaptive .*  chosen"), Not(HasSubstr("Links cost"))));
  question.bytes = 8;
  tuner.measured = collective::TuningTable(
      {{collective::CallKind::kAllReduce, 4, 1, 64, collective::Algorithm::kSlices}});
  EXPECT_THAT(CollectiveText(question, tuner),
              testing::ContainsRegex(" 64  slices .*; set by the tuning file  chosen"));
}

TEST(ExplainCollective, JsonHasTheCandidatesAndTheStepsOfTheChosenOne) {
  const auto json = nlohmann::json::parse(
      CollectiveJson({.ranks = 6, .hosts = 2, .bytes = 1 << 20, .root = 1, .rank = 2}, {}));
  EXPECT_EQ(json["operation"], "all_reduce");
  EXPECT_EQ(json["bytes"], 1 << 20);
  EXPECT_EQ(json["count"], 1 << 18);
  EXPECT_EQ(json["hosts"], 2);
  EXPECT_EQ(json["root"], 1);
  EXPECT_GT(json["links"]["remote"]["latency_ns"], json["links"]["local"]["latency_ns"]);
  double chosen = 0, least = 1e9;
  for (const auto& candidate : json["candidates"]) {
    if (candidate["algorithm"] == json["algorithm"]) chosen = candidate["time_us"];
    least = std::min<double>(least, candidate["time_us"]);
  }
  EXPECT_EQ(chosen, least);
  ASSERT_EQ(json["schedules"].size(), 1u);
  const auto& schedule = json["schedules"][0];
  EXPECT_EQ(schedule["rank"], 2);
  ASSERT_EQ(schedule["parts"].size(), 1u) << "ranks that share no memory";
  EXPECT_EQ(schedule["parts"][0]["over"], "links");
  EXPECT_FALSE(schedule["parts"][0]["steps"].empty());
  for (const auto& step : schedule["parts"][0]["steps"])
    EXPECT_EQ(step.contains("peer"), step["kind"] != "copy" && step["kind"] != "reduce") << step;
}

TEST(ExplainCollective, JsonHasThePartsThroughTheMemoryOfEachHost) {
  collective::Tuner tuner;
  tuner.choice = collective::ParseAlgorithmChoice("all_reduce:hierarchical_shared").value();
  const auto json = nlohmann::json::parse(
      CollectiveJson({.ranks = 8, .hosts = 2, .bytes = 1 << 20, .shares_memory = true}, tuner));
  EXPECT_EQ(json["algorithm"], "hierarchical_shared");
  ASSERT_EQ(json["schedules"].size(), 8u);
  std::set<std::string> over;
  for (const auto& part : json["schedules"][0]["parts"]) over.insert(part["over"]);
  EXPECT_EQ(over, (std::set<std::string>{"links", "memory"}));
}

TEST(ExplainCollective, JsonHasTheAlgorithmsThroughSharedMemory) {
  CollectiveQuestion question{.ranks = 4, .bytes = 1 << 20, .shares_memory = true};
  const auto json = nlohmann::json::parse(CollectiveJson(question, {}));
  EXPECT_EQ(json["algorithm"], "adaptive");
  EXPECT_EQ(json["block_bytes"], 1 << 20);
  EXPECT_EQ(json["ways"].front()["algorithm"], "one_shot");
  EXPECT_EQ(json["ways"].front()["bytes_max"], 6144);
  EXPECT_EQ(json["ways"].back()["bytes_max"], nullptr);
  EXPECT_EQ(json["ways"].back()["else"], "slices");
  question.bytes = 8;
  EXPECT_EQ(nlohmann::json::parse(CollectiveJson(question, {}))["algorithm"], "one_shot");
}

TEST(ExplainCollective, RanksOfOneHostShareMemoryAndOthersUseLinks) {
  EXPECT_THAT(RunCommand({"explain", "broadcast", "-n", "4", "-b", "1M"}).output,
              testing::ContainsRegex("any size  adaptive .*fetch.*  chosen"));
  EXPECT_THAT(RunCommand({"explain", "broadcast", "-n", "4", "--hosts", "2", "-b", "1M"}).output,
              AllOf(HasSubstr("Links cost"), Not(HasSubstr("fetch"))));
}

TEST(ExplainCollective, MarksAlgorithmsThatTheSettingForbids) {
  collective::Tuner tuner;
  tuner.choice = collective::ParseAlgorithmChoice("all_reduce:ring").value();
  EXPECT_THAT(CollectiveText({.ranks = 6, .bytes = 8}, tuner),
              HasSubstr("not allowed by RINGLET_HOST_ALGO"));
}

TEST(ExplainCollective, MarksAMeasuredChoice) {
  collective::Tuner tuner;
  tuner.measured =
      collective::TuningTable({{collective::CallKind::kAllReduce, 6, 1, collective::kAnyBytes,
                                collective::Algorithm::kDoubleTree}});
  EXPECT_THAT(CollectiveText({.ranks = 6, .bytes = 64}, tuner),
              testing::ContainsRegex("double_tree .* chosen: the fastest in measurements"));
}

}  // namespace
}  // namespace ringlet::cli
