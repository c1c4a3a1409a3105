#include "watch/metrics.hpp"

#include <gmock/gmock.h>

namespace ringlet::watch {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(SizeBucket, GrowsByPowersOfEight) {
  EXPECT_EQ(SizeBucketOf(0), 0u);
  EXPECT_EQ(SizeBucketOf(1), 0u);
  EXPECT_EQ(SizeBucketOf(2), 1u);
  EXPECT_EQ(SizeBucketOf(8), 1u);
  EXPECT_EQ(SizeBucketOf(9), 2u);
  EXPECT_EQ(SizeBucketOf(64), 2u);
  EXPECT_EQ(SizeBucketOf(std::uint64_t{1} << 30), 10u);
  EXPECT_EQ(SizeBucketOf((std::uint64_t{1} << 30) + 1), 11u);
  EXPECT_EQ(SizeBucketOf(~std::uint64_t{0}), 11u);
}

TEST(WaitTimes, AreCountedByPowersOfTen) {
  WaitTimes times;
  times.Add(std::chrono::microseconds(100));
  times.Add(std::chrono::microseconds(101));
  times.Add(std::chrono::hours(1));
  EXPECT_EQ(times.waits, (std::array<std::uint64_t, 8>{1, 1, 0, 0, 0, 0, 0, 1}));
}

ProcessMetrics MetricsForTest() {
  CommunicatorMetrics communicator{
      .communicator = "ab", .rank = 1, .ranks = 2, .in_progress = 1, .counts = {}};
  CallCounts sums{.call = "all_reduce", .bytes = 72};
  sums.sizes[SizeBucketOf(8)] = 1;
  sums.sizes[SizeBucketOf(64)] = 1;
  communicator.counts.calls.push_back(sums);
  communicator.counts.waited = {{0, std::chrono::milliseconds(1500)}};
  communicator.counts.wait_times.Add(std::chrono::milliseconds(1500));
  return {.host = "a\"b",
          .pid = 7,
          .communicators = {communicator},
          .control_bytes_sent = 5,
          .connections_failed = 3,
          .strangers_refused = 4};
}

TEST(OpenMetrics, HasEachCounterWithItsLabels) {
  const std::string text = ToOpenMetrics(MetricsForTest());
  const std::string rank = R"({host="a\"b",pid="7",communicator="ab",rank="1")";
  EXPECT_THAT(text, HasSubstr("ringlet_operation_size_bytes_bucket" + rank +
                              ",call=\"all_reduce\",le=\"8.0\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(",call=\"all_reduce\",le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text,
              HasSubstr("ringlet_operation_size_bytes_sum" + rank + ",call=\"all_reduce\"} 72\n"));
  EXPECT_THAT(text, HasSubstr("ringlet_waited_seconds_total" + rank + ",peer=\"0\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("ringlet_wait_seconds_bucket" + rank + ",le=\"10\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("ringlet_operations_in_progress" + rank + "} 1\n"));
  EXPECT_THAT(text, HasSubstr("ringlet_control_sent_bytes_total{host=\"a\\\"b\",pid=\"7\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("ringlet_connections_failed_total{host=\"a\\\"b\",pid=\"7\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("ringlet_strangers_refused_total{host=\"a\\\"b\",pid=\"7\"} 4\n"));
  EXPECT_THAT(text, EndsWith("# EOF\n"));
}

TEST(OpenMetrics, AProcessWithoutACommunicatorHasAnEmptyPage) {
  EXPECT_THAT(ToOpenMetrics({}), EndsWith("# EOF\n"));
}

}  // namespace
}  // namespace ringlet::watch
