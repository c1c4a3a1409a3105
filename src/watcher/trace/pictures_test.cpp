#include "watcher/trace/pictures.hpp"

#include <gtest/gtest.h>

#include "watch/traces_for_test.hpp"

namespace ringlet::watch {
namespace {

/// Returns the operations in a Chrome trace, without names of rows.
std::vector<Json> EventsOf(const std::vector<RankTrace>& traces) {
  const Json picture = Json::parse(ToChromeTrace(traces, AlignClocks(traces)));
  std::vector<Json> events;
  for (const Json& event : picture.at("traceEvents"))
    if (event.at("ph") == "X") events.push_back(event);
  return events;
}

TEST(ChromeTrace, HasARowForEachRank) {
  const auto events = EventsOf({TraceForTest(0, 2, 2), TraceForTest(1, 2, 2, Instant(1020))});
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0]["name"], "all_reduce");
  EXPECT_EQ(events[0]["ts"], 0.0);
  EXPECT_EQ(events[0]["dur"], 0.05);
  EXPECT_EQ(events[0]["args"]["measured"], true);
  EXPECT_EQ(events[3]["tid"], 1);
  EXPECT_EQ(events[3]["ts"], 0.12);
}

TEST(ChromeTrace, EstimatesUnmeasuredTimesFromTheirNeighbours) {
  RankTrace trace = TraceForTest(0, 1, 6);
  for (std::size_t i = 1; i < 5; ++i)
    trace.operations[i].began = trace.operations[i].ended = Instant(0);
  const auto events = EventsOf({trace});
  double before = 0.05;
  for (std::size_t i = 1; i < 6; ++i) {
    EXPECT_GE(events[i]["ts"].get<double>(), before);
    before = events[i]["ts"].get<double>() + events[i]["dur"].get<double>();
  }
  EXPECT_LE(before, 0.6);
  EXPECT_EQ(events[2]["args"]["measured"], false);
}

TEST(ChromeTrace, AnUnfinishedOperationLastsUntilTheTraceIsTaken) {
  RankTrace trace = Waiting(TraceForTest(0, 1, 1));
  trace.taken = Instant(5000);
  EXPECT_EQ(EventsOf({trace})[0]["dur"], 4.0);
  EXPECT_TRUE(EventsOf({TraceForTest(0, 1, 0)}).empty());
}

TEST(FlightRecorder, HasTheFieldsOfPyTorch) {
  RankTrace trace = Waiting(TraceForTest(1, 2, 3));
  trace.operations.push_back({.number = 3,
                              .sequence = 3,
                              .call = "send_receive",
                              .count = 4,
                              .type = "int64",
                              .root = 0,
                              .peer = 0,
                              .bytes = 32,
                              .messages = 1,
                              .progress = OperationState::kBegun});
  trace.begun = 4;
  const Json dump = Json::parse(ToFlightRecorder({trace}));
  EXPECT_EQ(dump["version"], "2.10");
  EXPECT_EQ(dump["pg_config"]["00000000000000ab"]["ranks"], "[0, 1]");
  const Json& first = dump["entries"][0];
  EXPECT_EQ(first["profiling_name"], "nccl:all_reduce");
  EXPECT_EQ(first["process_group"], Json({"00000000000000ab", "ringlet"}));
  EXPECT_EQ(first["collective_seq_id"], 1);
  EXPECT_EQ(first["state"], "completed");
  EXPECT_EQ(first["input_sizes"], Json::parse("[[2]]"));
  EXPECT_EQ(first["input_dtypes"], Json({"Float"}));
  EXPECT_EQ(first["time_created_ns"], 1'001'000);
  EXPECT_EQ(first["duration_ms"], 0.00005);
  EXPECT_EQ(dump["entries"][2]["state"], "started");
  EXPECT_EQ(dump["entries"][2]["time_discovered_completed_ns"], nullptr);
  EXPECT_EQ(dump["entries"][3]["profiling_name"], "nccl:send 1->0");
  EXPECT_EQ(dump["entries"][3]["is_p2p"], true);
}

TEST(ChromeTrace, ShowsTheQueueingTimeOfAnOperation) {
  RankTrace trace = TraceForTest(0, 1, 2);
  trace.operations[1].enqueued = trace.operations[1].began - Instant(90);
  const Json events = EventsOf({trace});
  EXPECT_FALSE(events[0]["args"].contains("waited_us"));
  EXPECT_EQ(events[1]["args"]["waited_us"], 0.09);
}

TEST(FlightRecorder, AnOperationIsCreatedWhenItIsEnqueued) {
  RankTrace trace = TraceForTest(0, 1, 1);
  trace.operations[0].enqueued = trace.operations[0].began - Instant(90);
  const Json dump = Json::parse(ToFlightRecorder({trace}));
  EXPECT_EQ(dump["entries"][0]["time_created_ns"], 1'000'910);
  EXPECT_EQ(dump["entries"][0]["time_discovered_started_ns"], 1'001'000);
}

TEST(FlightRecorder, SizesAreThoseOfTheBuffers) {
  RankTrace trace = TraceForTest(0, 4, 3);
  trace.operations[0].call = "all_gather";
  trace.operations[1].call = "reduce_scatter";
  trace.operations[2].call = "all_to_all";
  const Json entries = Json::parse(ToFlightRecorder({trace}))["entries"];
  EXPECT_EQ(entries[0]["input_sizes"].dump() + entries[0]["output_sizes"].dump(), "[[2]][[8]]");
  EXPECT_EQ(entries[1]["input_sizes"].dump() + entries[1]["output_sizes"].dump(), "[[8]][[2]]");
  EXPECT_EQ(entries[2]["input_sizes"].dump() + entries[2]["output_sizes"].dump(), "[[8]][[8]]");
}

}  // namespace
}  // namespace ringlet::watch
