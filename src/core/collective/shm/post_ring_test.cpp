#include "collective/shm/post_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/value/prng.hpp"

namespace ringlet::collective {
namespace {

constexpr std::uint64_t kRingPosts = transport::ArenaShape::kPosts;

TEST(PostRing, WithoutPayloadsReusesOnlyPosts) {
  PostRing ring(1024);
  for (std::uint64_t sequence = 1; sequence <= 3 * kRingPosts; ++sequence)
    EXPECT_EQ(ring.Next(0).after, sequence > kRingPosts ? sequence - kRingPosts : 0);
}

// For all payload sizes, an operation overwrites only data of operations that are over, and never
// waits for the one directly before it.
TEST(PostRing, OverwritesNoDataInUse) {
  constexpr std::size_t kBytes = 1024;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Prng prng(seed);
    PostRing ring(kBytes);
    struct Used {
      std::size_t begin, end;
    };
    std::vector<Used> used(1);  // by sequence
    for (std::uint64_t sequence = 1; sequence <= 500; ++sequence) {
      const std::size_t bytes = prng.Chance(0.3) ? 0 : prng.Below(kBytes / 4 + 1);
      const PostRing::PostSlot place = ring.Next(bytes);
      ASSERT_LE(place.offset + bytes, kBytes) << "seed " << seed;
      ASSERT_LT(place.after + 1, std::max<std::uint64_t>(sequence, 2)) << "seed " << seed;
      used.push_back({place.offset, place.offset + bytes});
      for (std::uint64_t other = place.after + 1; other < sequence; ++other) {
        const bool apart =
            used[other].end <= place.offset || used[other].begin >= used[sequence].end;
        ASSERT_TRUE(apart || bytes == 0) << "seed " << seed << ": " << sequence << " and " << other;
      }
    }
  }
}

TEST(PostRing, SmallPayloadsAllowAFullRingOfPosts) {
  PostRing ring(64 * kRingPosts);
  for (std::uint64_t sequence = 1; sequence <= kRingPosts; ++sequence)
    EXPECT_EQ(ring.Next(64).after, 0u);
  EXPECT_EQ(ring.Next(64).after, 1u);
}

}  // namespace
}  // namespace ringlet::collective
