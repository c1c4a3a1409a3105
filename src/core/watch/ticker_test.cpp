#include "watch/ticker.hpp"

#include <gtest/gtest.h>

namespace ringlet::watch {
namespace {

TEST(Ticker, CallsOncePerPeriod) {
  int calls = 0;
  Ticker ticker(Instant(100), [&] { ++calls; });
  ticker.Handle(Tick{}, Instant(10));
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(ticker.Deadline(), Instant(110));
  ticker.Handle(Tick{}, Instant(109));
  EXPECT_EQ(calls, 0);
  ticker.Handle(Tick{}, Instant(500));
  EXPECT_EQ(calls, 1) << "missed ones are not made up for";
  EXPECT_EQ(ticker.Deadline(), Instant(600));
  EXPECT_FALSE(ticker.Finished());
}

}  // namespace
}  // namespace ringlet::watch
