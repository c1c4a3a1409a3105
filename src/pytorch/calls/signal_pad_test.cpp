#include "pytorch/calls/signal_pad.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace ringlet::torch_api {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

SignalWaiting Long() {
  return {.timeout = std::chrono::minutes(1), .what = "rank 0 waits for rank 1"};
}

TEST(SignalPad, HasAWordForEachChannelAndRank) {
  std::array<std::uint32_t, 6> words{};
  const SignalPad pad{words.data(), sizeof(words)};
  EXPECT_EQ(&pad.Word(1, 2, 3), &words[5]);
  EXPECT_TRUE(pad.Has(1, 3));
  EXPECT_FALSE(pad.Has(2, 3));
  EXPECT_FALSE(pad.Has(0xffffffff, 3));
}

TEST(SignalPad, ASignalIsTakenOnce) {
  std::uint32_t word = 0;
  ASSERT_TRUE(RaiseSignal(word, Long()).ok());
  EXPECT_EQ(word, 1u);
  ASSERT_TRUE(TakeSignal(word, Long()).ok());
  EXPECT_EQ(word, 0u);
}

TEST(SignalPad, WritesBeforeASignalAreVisibleAfterIt) {
  std::uint32_t there = 0, back = 0;
  int value = 0;
  std::jthread other([&] {
    for (int i = 1; i <= 2000; ++i) {
      ASSERT_TRUE(TakeSignal(there, Long()).ok());
      ASSERT_EQ(value, i);
      ++value;
      ASSERT_TRUE(RaiseSignal(back, Long()).ok());
    }
  });
  for (int i = 1; i <= 2000; ++i) {
    value = i;
    ASSERT_TRUE(RaiseSignal(there, Long()).ok());
    ASSERT_TRUE(TakeSignal(back, Long()).ok());
    ASSERT_EQ(value, i + 1);
  }
}

TEST(SignalPad, AWaitTimesOutAndNamesThePeer) {
  std::uint32_t word = 0;
  SignalWaiting waiting = Long();
  waiting.timeout = milliseconds(5);
  const Status status = TakeSignal(word, waiting);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kTimeout);
  EXPECT_THAT(status.error().message, HasSubstr("rank 0 waits for rank 1 for 5 ms"));
  word = 1;
  EXPECT_EQ(RaiseSignal(word, waiting).error().code, Code::kTimeout);
}

TEST(SignalPad, AWaitEndsWhenThePeerHasEnded) {
  std::uint32_t word = 0;
  SignalWaiting waiting = Long();
  waiting.why_in_vain = [] { return std::string("its process has ended"); };
  const Status status = TakeSignal(word, waiting);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kPeerLost);
  EXPECT_THAT(status.error().message, HasSubstr("has ended"));
}

TEST(SignalPad, AnAbortEndsAWait) {
  std::uint32_t word = 0;
  std::stop_source stop;
  SignalWaiting waiting = Long();
  waiting.abort = stop.get_token();
  std::jthread other([&] { stop.request_stop(); });
  EXPECT_EQ(TakeSignal(word, waiting).error().code, Code::kAborted);
}

}  // namespace
}  // namespace ringlet::torch_api
