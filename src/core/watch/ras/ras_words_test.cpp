#include "watch/ras/ras_words.hpp"

#include <gtest/gtest.h>

namespace ringlet::watch {
namespace {

TEST(RasWords, IgnoreCase) {
  EXPECT_TRUE(IsWord("Verbose STATUS", "verbose status"));
  EXPECT_FALSE(IsWord("statu", "status"));
  EXPECT_FALSE(IsWord("status ", "status"));
}

TEST(RasWords, AWordIsConsumedWithItsSpace) {
  std::string_view text = "TIMEOUT 5";
  EXPECT_TRUE(TakeWord(text, "timeout"));
  EXPECT_EQ(text, "5");
  text = "TIMEOUT";
  EXPECT_FALSE(TakeWord(text, "timeout"));
  text = "TIMEOUTS 5";
  EXPECT_FALSE(TakeWord(text, "timeout"));
  EXPECT_EQ(text, "TIMEOUTS 5");
}

}  // namespace
}  // namespace ringlet::watch
