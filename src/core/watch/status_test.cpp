#include "watch/status.hpp"

#include <gmock/gmock.h>

#include "watch/traces_for_test.hpp"

namespace ringlet::watch {
namespace {

using testing::HasSubstr;

ProcessStatus StatusForTest() {
  RankState self{.rank = 1,
                 .host = "node0",
                 .pid = 7,
                 .operations = 8,
                 .calls = {{"all_reduce", 7}, {"barrier", 1}},
                 .last = SumForTest(7, Instant(5)),
                 .inside = true,
                 .waits_for = 0,
                 .recovery = RecoveryTimes{.called = Instant(1),
                                           .agreed = Instant(2),
                                           .rebuilt = Instant(3),
                                           .first_result = Instant(4)},
                 .since = Instant(90)};
  RankState peer{.rank = 0,
                 .host = "node1",
                 .pid = 8,
                 .reach = RankState::Reach::kSilent,
                 .process = "stopped",
                 .forming = true,
                 .phase = "waits",
                 .failure = "why",
                 .result = 6};
  ReportedState told{.communicator = "00000000000000cd", .ranks = 3, .state = self};
  return {.host = "node0",
          .pid = 7,
          .communicators = {{.communicator = "00000000000000ab",
                             .ranks = 2,
                             .self = std::move(self),
                             .peers = {std::move(peer)},
                             .told = {std::move(told)}}}};
}

TEST(ProcessStatus, RoundTrips) {
  const auto read = ParseProcessStatus(ToJson(StatusForTest()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, StatusForTest());
  EXPECT_EQ(ParseProcessStatus(ToJson(ProcessStatus())).value(), ProcessStatus());
}

TEST(ProcessStatus, ErrorsDescribeTheDamage) {
  const auto refusal = [](const std::string& text) {
    const auto status = ParseProcessStatus(text);
    return status.ok() ? "accepted" : status.error().message;
  };
  EXPECT_THAT(refusal("{}"), HasSubstr("ringlet_status is missing"));
  EXPECT_THAT(refusal("unknown question\n"), HasSubstr("not a JSON object"));
  std::string text = ToJson(StatusForTest());
  text.replace(text.find("\"here\""), 6, "\"thre\"");
  EXPECT_THAT(refusal(text), HasSubstr("reach has an unknown value"));
}

}  // namespace
}  // namespace ringlet::watch
