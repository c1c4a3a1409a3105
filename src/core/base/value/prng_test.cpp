#include "base/value/prng.hpp"

#include <gtest/gtest.h>

namespace ringlet {
namespace {

TEST(Prng, ProducesTheSequenceOfSplitmix64) {
  Prng prng(1234567);
  for (const std::uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u})
    EXPECT_EQ(prng.Next(), expected);
}

TEST(Prng, DrawsEveryValueBelowItsBound) {
  Prng prng(1);
  bool seen[7] = {};
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t drawn = prng.Below(7);
    ASSERT_LT(drawn, 7u);
    seen[drawn] = true;
  }
  for (const bool one : seen) EXPECT_TRUE(one);
}

TEST(Prng, ChanceIsTrueAtItsProbability) {
  Prng prng(1);
  int quarter = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_FALSE(prng.Chance(0));
    EXPECT_TRUE(prng.Chance(1));
    quarter += prng.Chance(0.25);
  }
  EXPECT_NEAR(quarter, 2500, 200);
}

}  // namespace
}  // namespace ringlet
