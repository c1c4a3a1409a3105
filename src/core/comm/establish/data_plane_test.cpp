#include "comm/establish/data_plane.hpp"

#include <gtest/gtest.h>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

/// Forms four ranks with `links` links each.
void ExpectLinks(const EnvMap& environment, const Config& as, bool memory, std::size_t links) {
  const auto process = ProcessWith(environment);
  RunRanks(
      4, [&](std::uint32_t) { return process; },
      [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        EXPECT_EQ((*formed)->host_memory().IsHere(), memory);
        EXPECT_EQ((*formed)->links().size(), links);
        EXPECT_TRUE(SumOfRanks(**formed, 1000).ok());
      },
      as);
}

TEST(DataPlane, KnownAndNegotiatedMemoryGiveTheSameLinks) {
  ExpectLinks({}, {.expects_one_host = true}, true, 0);
  ExpectLinks({}, {}, true, 0);
}

TEST(DataPlane, WithoutMemoryNeighboursHaveLinks) {
  ExpectLinks({{"RINGLET_LINKS", "tcp"}}, {}, false, 2);
}

}  // namespace
}  // namespace ringlet::comm
