#include "comm/run/messenger.hpp"

#include <gmock/gmock.h>

#include "base/value/prng.hpp"
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

struct TestMessage {
  std::uint32_t from, to;
  Bytes data;
};

/// Returns messages between random ranks, of sizes around the smallest that is offered.
std::vector<TestMessage> RandomMessages(Prng& prng, std::uint32_t ranks) {
  static constexpr std::size_t kSizes[] = {0, 1, 8, 9, 4095, 4096, 5000};
  std::vector<TestMessage> messages(prng.Below(12));
  for (TestMessage& one : messages) {
    one.from = static_cast<std::uint32_t>(prng.Below(ranks));
    one.to = static_cast<std::uint32_t>(prng.Below(ranks));
    one.data.resize(kSizes[prng.Below(std::size(kSizes))]);
    for (std::byte& byte : one.data) byte = static_cast<std::byte>(prng.Next());
  }
  return messages;
}

// Each rank puts its sends or its receives first, at random. A rank that spins waits for small
// messages before the general engine starts. Links of kind shm connect processes; others, threads.
TEST(Messenger, MessagesOfAllSizesKeepTheirOrder) {
  const EnvMap environments[] = {{{"RINGLET_WAIT", "spin"}},
                                 {{"RINGLET_WAIT", "yield"}},
                                 {{"RINGLET_WAIT", "spin"}, {"RINGLET_LINKS", "shm"}}};
  for (std::size_t number = 0; number < std::size(environments); ++number) {
    RunFormed(3, environments[number], [&](std::uint32_t rank, Communicator& mine) {
      Prng shared(7), own(rank);
      for (int round = 0; round < 300; ++round) {
        const std::vector<TestMessage> messages = RandomMessages(shared, 3);
        std::vector<Bytes> received;
        for (const TestMessage& one : messages) received.emplace_back(one.data.size());
        std::vector<Transfer> sends, receives;
        for (std::size_t i = 0; i < messages.size(); ++i) {
          const TestMessage& one = messages[i];
          const std::size_t bytes = one.data.size();
          if (one.from == rank)
            sends.push_back({.peer = Rank{one.to},
                             .sends = true,
                             .from = one.data,
                             .count = bytes,
                             .type = DataType::kUint8});
          if (one.to == rank)
            receives.push_back({.peer = Rank{one.from},
                                .to = received[i],
                                .count = bytes,
                                .type = DataType::kUint8});
        }
        const bool receives_first = own.Below(2) == 0;
        std::vector<Transfer>& first = receives_first ? receives : sends;
        const std::vector<Transfer>& second = receives_first ? sends : receives;
        first.insert(first.end(), second.begin(), second.end());
        ASSERT_TRUE(mine.Run(first).ok()) << "environment " << number << ", round " << round;
        for (std::size_t i = 0; i < messages.size(); ++i)
          if (messages[i].to == rank) {
            ASSERT_EQ(received[i], messages[i].data)
                << "environment " << number << ", round " << round;
          }
      }
    });
  }
}

// The sender is done with a small message at once. The receiver finds the difference.
TEST(Messenger, ASmallMessageOfAnotherCountIsAnError) {
  RunFormed(2, {}, [](std::uint32_t rank, Communicator& mine) {
    Bytes data(16);
    const auto run = [&](std::size_t bytes) {
      const Transfer transfer{
          .peer = Rank{1 - rank},
          .sends = rank == 0,
          .from = rank == 0 ? View(data).first(bytes) : View(),
          .to = rank == 1 ? std::span(data).first(bytes) : std::span<std::byte>(),
          .count = bytes,
          .type = DataType::kUint8};
      return mine.Run({&transfer, 1});
    };
    ASSERT_TRUE(run(8).ok());
    const Status second = run(rank == 0 ? 8 : 16);
    if (rank == 0) return;
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, Code::kProtocol);
    EXPECT_THAT(second.error().message, testing::HasSubstr("rank 0 called a message of 8 uint8"));
  });
}

}  // namespace
}  // namespace ringlet::comm
