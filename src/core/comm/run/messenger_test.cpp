#include "comm/run/messenger.hpp"

#include <gmock/gmock.h>

#include "comm/backend/backends_for_test.hpp"

namespace ringlet::comm {
namespace {

// The second group is shorter than the first, reuses its memory, and has other peers.
TEST(Messenger, RunsConsecutiveGroupsOfMessages) {
  RunFormed(3, {}, [](std::uint32_t rank, Communicator& mine) {
    for (std::uint32_t distance = 2; distance >= 1; --distance) {
      const Rank to{(rank + distance) % 3}, from{(rank + 3 - distance) % 3};
      std::vector<std::uint32_t> out(distance, rank), in(distance);
      std::vector<Transfer> group;
      for (std::uint32_t i = 0; i < distance; ++i) {
        group.push_back({.peer = to,
                         .sends = true,
                         .from = std::as_bytes(std::span(out).subspan(i, 1)),
                         .count = 1,
                         .type = DataType::kUint32});
        group.push_back({.peer = from,
                         .to = std::as_writable_bytes(std::span(in).subspan(i, 1)),
                         .count = 1,
                         .type = DataType::kUint32});
      }
      ASSERT_TRUE(mine.Run(group).ok());
      EXPECT_THAT(in, testing::Each(Index(from)));
    }
    EXPECT_TRUE(mine.Run(std::span<const Transfer>()).ok()) << "no message at all";
  });
}

}  // namespace
}  // namespace ringlet::comm
