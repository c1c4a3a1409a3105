#include "bootstrap/survivors.hpp"

#include <gtest/gtest.h>

#include "base/value/prng.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(Survivors, NumberTheRemainingRanksInTheirOldOrder) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Prng prng(seed);
    const auto ranks = static_cast<std::uint32_t>(1 + prng.Below(40));
    const double share = static_cast<double>(prng.Below(10)) / 9;
    std::vector<std::uint32_t> left_out, remaining;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      (prng.Chance(share) ? left_out : remaining).push_back(rank);
    const Survivors survivors(ranks, left_out);
    ASSERT_EQ(survivors.size(), remaining.size()) << "seed " << seed;
    for (std::uint32_t rank = 0; rank < remaining.size(); ++rank) {
      EXPECT_EQ(survivors.OldRank(rank), remaining[rank]) << "seed " << seed;
      EXPECT_EQ(survivors.NewRank(remaining[rank]), rank) << "seed " << seed;
      EXPECT_FALSE(survivors.IsLeftOut(remaining[rank])) << "seed " << seed;
    }
    EXPECT_EQ(survivors.OldRanks(), remaining) << "seed " << seed;
    for (const std::uint32_t rank : left_out) {
      EXPECT_FALSE(survivors.NewRank(rank)) << "seed " << seed;
      EXPECT_TRUE(survivors.IsLeftOut(rank)) << "seed " << seed;
    }
    EXPECT_FALSE(survivors.NewRank(ranks)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ringlet::bootstrap
