#include "watch/rank_trace.hpp"

#include <gmock/gmock.h>

#include "watch/traces_for_test.hpp"

namespace ringlet::watch {
namespace {

using testing::HasSubstr;

/// The text with one part replaced.
std::string Changed(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return std::string(text).replace(at, from.size(), to);
}

std::string Refusal(const std::string& text) {
  const auto trace = ParseRankTrace(text);
  return trace.ok() ? "accepted" : trace.error().message;
}

TEST(RankTrace, RoundTrips) {
  RankTrace trace = Waiting(TraceForTest(1, 2, 3));
  trace.waits_for = 0;
  trace.operations.front().enqueued = Instant(900);
  trace.failure = "rank 0 \"was lost\"\nin one line";
  trace.operations.back() = {.number = 2,
                             .sequence = 2,
                             .call = "send_receive",
                             .count = 5,
                             .type = "int8",
                             .root = 1,
                             .peer = 0,
                             .bytes = 5,
                             .messages = 1,
                             .progress = OperationState::kFailed};
  const auto read = ParseRankTrace(ToJson(trace));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, trace);
  const RankTrace empty = TraceForTest(0, 1, 0);
  EXPECT_EQ(ParseRankTrace(ToJson(empty)).value(), empty);
}

TEST(RankTrace, ReplacesInvalidUtf8) {
  RankTrace trace = TraceForTest(0, 1, 1);
  trace.host = "a\xff";
  EXPECT_TRUE(ParseRankTrace(ToJson(trace)).ok());
}

TEST(RankTrace, ErrorsDescribeTheDamage) {
  const std::string good = ToJson(TraceForTest(1, 2, 3));
  EXPECT_THAT(Refusal(""), HasSubstr("not a JSON object"));
  EXPECT_THAT(Refusal("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(Refusal(Changed(good, "\"ringlet_trace\": 1", "\"ringlet_trace\": 2")),
              HasSubstr("ringlet_trace is not 1"));
  EXPECT_THAT(Refusal(Changed(good, "\"rank\": 1", "\"rank\": 2")),
              HasSubstr("rank 2 of 2 does not exist"));
  EXPECT_THAT(Refusal(Changed(good, "\"rank\": 1", "\"rank\": -1")),
              HasSubstr("rank is not a number"));
  EXPECT_THAT(Refusal(Changed(good, "\"number\":1", "\"number\":7")), HasSubstr("not numbered"));
  EXPECT_THAT(Refusal(Changed(good, "\"done\": 3", "\"done\": 4")), HasSubstr("more operations"));
  EXPECT_THAT(Refusal(Changed(good, "\"state\":\"done\"", "\"state\":\"lost\"")),
              HasSubstr("neither begun, done nor failed"));
  EXPECT_THAT(Refusal(Changed(good, "\"host\": \"node0\"", "\"host\": 5")),
              HasSubstr("host is not a text"));
  EXPECT_THAT(Refusal(Changed(good, "\"taken_ns\": ", "\"taken_ns\": 99999999999999999")),
              HasSubstr("taken_ns"));
  EXPECT_THAT(Refusal(Changed(good, "\"ranks\": 2", "\"ranks\": 16777217")),
              HasSubstr("ranks is not a number from 0 to 16777216"));
  EXPECT_THAT(Refusal(Changed(good, "\"began_ns\":1000", "\"began_ns\":2305843009213693953")),
              HasSubstr("began_ns is not a number"));
  EXPECT_THAT(Refusal(std::string(kTraceBytesMax + 1, ' ')), HasSubstr("more than"));
}

TEST(RankTrace, ADeepListIsRefusedWithoutRecursion) {
  EXPECT_THAT(Refusal(std::string(1 << 20, '[')), HasSubstr("not a JSON object"));
}

TEST(RankTrace, TheDumpFileIsNamedByCommunicatorAndRank) {
  EXPECT_EQ(FileNameOf(TraceForTest(3, 4, 0)), "00000000000000ab-3.json");
}

}  // namespace
}  // namespace ringlet::watch
