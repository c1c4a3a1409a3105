// Compares the engine with naive results.
#include "collective/shm/shm_collective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "collective/call/run.hpp"
#include "collective/shm/host_world_for_test.hpp"
#include "os/clock.hpp"
#include "os/process/remote_fence.hpp"

namespace ringlet::collective {
namespace {

using ::testing::HasSubstr;
TEST(ShmCollective, IsCorrectForEveryOperationSizeAndOrderOfSteps) {
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, seed " << seed);
      World world(ranks, seed, {.stream_bytes_min = seed % 2 == 0 ? std::size_t{4096} : 1});
      ExpectAnySequenceIsRight(world, 40);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ShmCollective, SumsAreTheSameOnAllRanksBitForBit) {
  for (const std::size_t count : {5u, 2000u}) {
    World world(5, count);
    std::vector<std::vector<float>> outputs(5, std::vector<float>(count));
    std::vector<std::vector<float>> inputs(5, std::vector<float>(count));
    std::vector<std::vector<Call>> lists;
    for (std::size_t rank = 0; rank < 5; ++rank) {
      for (float& value : inputs[rank])
        value = static_cast<float>(world.prng().Next() % 100000) * 1e-3f;
      lists.push_back({{.kind = CallKind::kAllReduce,
                        .input = std::as_bytes(std::span(inputs[rank])),
                        .output = std::as_writable_bytes(std::span(outputs[rank])),
                        .count = count,
                        .type = DataType::kFloat32}});
    }
    ASSERT_TRUE(world.Run(lists).ok());
    for (std::size_t i = 0; i < count; ++i) {
      float sum = inputs[0][i];
      for (std::size_t rank = 1; rank < 5; ++rank) sum += inputs[rank][i];
      for (std::size_t rank = 0; rank < 5; ++rank) ASSERT_EQ(outputs[rank][i], sum) << i;
    }
  }
}

TEST(ShmCollective, DataThatFitASlotAreOneShotAndOthersAreSliced) {
  for (const std::uint64_t count : {kSlotBytes / 4, kSlotBytes / 4 + 1}) {
    World world(2, 1);
    const Scene scene({.kind = CallKind::kAllReduce, .count = count, .type = DataType::kInt32}, 2,
                      false, world.prng());
    ASSERT_TRUE(world.Run({{scene.call(0)}, {scene.call(1)}}).ok());
    scene.Check("sum");
    EXPECT_EQ(world.arena().rank(0).progress.got.load() > 0, count * 4 > kSlotBytes);
  }
}

TEST(ShmCollective, NoRankLeavesABarrierBeforeAllEnter) {
  for (const CallKind kind : {CallKind::kBarrier, CallKind::kAllToAllV}) {
    World world(3, 1);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      world.Start(rank, {.kind = kind});
      const auto done = world.engine(rank).Advance();
      ASSERT_TRUE(done.ok());
      EXPECT_EQ(*done, rank == 2) << Name(kind) << ", rank " << rank;
    }
    for (const std::uint32_t rank : {0u, 1u}) EXPECT_TRUE(world.engine(rank).Advance().value());
  }
}

// A root waits for other ranks only before it would overwrite data that they still have to read.
TEST(ShmCollective, ARankAheadOfOthersKeepsTheirUnreadData) {
  World world(2, 1);
  std::int32_t given = 0, got = -1;
  const auto call = [](std::int32_t& memory) {
    return Call{.kind = CallKind::kBroadcast,
                .input = std::as_bytes(std::span(&memory, 1)),
                .output = std::as_writable_bytes(std::span(&memory, 1)),
                .count = 1,
                .type = DataType::kInt32};
  };
  constexpr auto kPosts = static_cast<std::int32_t>(transport::ArenaShape::kPosts);
  for (; given < kPosts; ++given) {
    world.Start(0, call(given));
    ASSERT_TRUE(world.engine(0).Advance().value()) << given;
  }
  world.Start(0, call(given));
  ASSERT_FALSE(world.engine(0).Advance().value());
  EXPECT_EQ(world.engine(0).Awaits(), Rank{1});
  EXPECT_THAT(world.engine(0).WaitingFor(),
              HasSubstr("waits for rank 1 to finish an operation before"));
  // A rank shows that it has finished an operation by beginning the next one.
  for (std::int32_t i = 0; i <= kPosts; ++i) {
    world.Start(1, call(got));
    ASSERT_TRUE(world.engine(1).Advance().value()) << i;
    EXPECT_EQ(got, i);
    if (i > 1) continue;
    EXPECT_EQ(world.engine(0).Advance().value(), i == 1);
  }
}

// ---- ranks that make different calls ------------------------------------------------------------

constexpr std::uint64_t kSmall = 4, kLarge = 1000;

TEST(ShmCollective, ADifferentCallIsReportedOnAllRanks) {
  const Call sum{.kind = CallKind::kAllReduce, .count = kSmall, .type = DataType::kInt32};
  Call large = sum, max = sum, gather = sum, wide = sum;
  large.count = kLarge;
  max.op = ReduceOp::kMax;
  gather.kind = CallKind::kAllGather;
  wide.type = DataType::kInt64;
  for (const Call& other : {large, max, gather, wide}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(testing::Message() << ToText(other) << ", seed " << seed);
      World world(3, seed);
      std::vector<Bytes> memory(6, Bytes(32 * kLarge));
      std::vector<std::string> said(3);
      for (std::uint32_t rank = 0; rank < 3; ++rank) {
        Call call = rank == 1 ? other : sum;
        call.input = memory[2 * rank];
        call.output = memory[2 * rank + 1];
        world.Start(rank, call);
      }
      for (int turn = 0; turn < 300; ++turn) {
        const auto rank = static_cast<std::uint32_t>(world.prng().Below(3));
        const auto done = world.engine(rank).Advance();
        ASSERT_TRUE(!done.ok() || !*done);
        if (done.ok()) continue;
        said[rank] = done.error().message;
        EXPECT_EQ(done.error().code, Code::kProtocol);
      }
      for (const std::string& text : said) {
        EXPECT_THAT(text, HasSubstr("rank 1"));
        EXPECT_THAT(text, HasSubstr(ToText(other)));
        EXPECT_THAT(text, HasSubstr(ToText(sum)));
      }
    }
  }
}

TEST(ShmCollective, DifferentRootsFailBothRanksByTheNextOperation) {
  World world(2, 1);
  std::vector<Bytes> memory(4, Bytes(64));
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    world.Start(rank, {.kind = CallKind::kBroadcast,
                       .input = memory[rank],
                       .output = memory[2 + rank],
                       .count = kSmall,
                       .type = DataType::kInt32,
                       .root = Rank{rank}});
  }
  // Rank 0 gives its data and is done. Rank 1 gives its data, sees the call of rank 0, and fails.
  const auto first = world.engine(0).Advance();
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_THAT(world.engine(1).Advance().error().message, HasSubstr("at root 0"));
  world.Start(0, {.kind = CallKind::kBarrier});
  auto second = world.engine(0).Advance();
  EXPECT_FALSE(second.ok());
}

TEST(ShmCollective, ARankThatGivesUpFailsTheOthers) {
  for (const std::uint64_t count : {kSmall, kLarge}) {
    World world(2, 1);
    Bytes memory(4 * kLarge);
    world.Start(0, {.kind = CallKind::kAllReduce,
                    .input = memory,
                    .output = memory,
                    .count = count,
                    .type = DataType::kInt32});
    ASSERT_FALSE(world.engine(0).Advance().value());
    EXPECT_EQ(world.engine(0).Awaits(), Rank{1});
    EXPECT_THAT(world.engine(0).WaitingFor(), HasSubstr("waits for rank 1 to call it"));
    world.engine(1).GiveUp();
    const auto error = world.engine(0).Advance();
    ASSERT_FALSE(error.ok());
    EXPECT_EQ(error.error().code, Code::kPeerLost);
    EXPECT_THAT(error.error().message, HasSubstr("rank 1 has given up"));
    EXPECT_FALSE(world.engine(0).Advance().ok()) << "the error stays";
  }
}

TEST(ShmCollective, ADepartedRankFailsOnlyLaterOperations) {
  World world(2, 1);
  Bytes memory(64);
  const Call sum{.kind = CallKind::kAllReduce,
                 .input = memory,
                 .output = memory,
                 .count = kSmall,
                 .type = DataType::kInt32};
  world.Start(0, sum);
  ASSERT_FALSE(world.engine(0).Advance().value());
  world.Start(1, sum);
  ASSERT_TRUE(world.engine(1).Advance().value());
  world.engine(1).Leave();
  ASSERT_TRUE(world.engine(0).Advance().value()) << "it left after its part";
  world.Start(0, sum);
  ASSERT_FALSE(world.engine(0).Advance().value());  // checks once more
  const auto error = world.engine(0).Advance();
  ASSERT_FALSE(error.ok());
  EXPECT_EQ(error.error().code, Code::kPeerLost);
  EXPECT_THAT(error.error().message,
              HasSubstr("rank 1 left the communicator (destroyed or aborted it) before "
                        "operation 1"));
  EXPECT_EQ(error.error().lost_rank, 1);
}

TEST(MayFetch, NeedsLargerBlocksAmongMoreRanks) {
  struct Row {
    CallKind kind;
    std::uint32_t ranks;
    std::size_t least;
  };
  for (const Row& row : {Row{CallKind::kAllGather, 2, 256}, Row{CallKind::kAllGather, 64, 8192},
                         Row{CallKind::kAllToAll, 16, 256}, Row{CallKind::kAllToAll, 128, 2048},
                         Row{CallKind::kScatter, 4, 256 << 10}}) {
    SCOPED_TRACE(testing::Message() << Name(row.kind) << " among " << row.ranks);
    EXPECT_FALSE(MayFetch(row.kind, row.least - 1, row.ranks));
    EXPECT_TRUE(MayFetch(row.kind, row.least, row.ranks));
    EXPECT_TRUE(MayFetch(row.kind, row.least * 2 - 1, row.ranks));
  }
  EXPECT_TRUE(MayFetch(CallKind::kBroadcast, 1, 64));
  EXPECT_FALSE(MayFetch(CallKind::kAllReduce, 1 << 30, 2)) << "it reduces";
}

TEST(ShmCollective, AOneShotOperationIsDoneAtItsStartIfItsPeersHavePosted) {
  World world(2, 1);
  std::vector<std::int32_t> from{1, 2, 3, 4}, to(from.size());
  Call broadcast{.kind = CallKind::kBroadcast,
                 .input = std::as_bytes(std::span(from)),
                 .output = std::as_writable_bytes(std::span(from)),
                 .count = kSmall,
                 .type = DataType::kInt32};
  world.Start(0, broadcast);
  std::ranges::fill(from, -1);  // the root's memory is its own again
  broadcast.output = std::as_writable_bytes(std::span(to));
  world.Start(1, broadcast);
  EXPECT_THAT(to, testing::ElementsAre(1, 2, 3, 4));
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    EXPECT_TRUE(world.engine(rank).Advance().value()) << "rank " << rank;
}

// A root does not need other ranks. It has continued when they detect that they named another root.
TEST(ShmCollective, ARootDetectsAnotherRootAtItsNextCall) {
  World world(2, 1);
  Bytes memory(64);
  Call broadcast{.kind = CallKind::kBroadcast,
                 .input = memory,
                 .output = memory,
                 .count = kSmall,
                 .type = DataType::kInt32};
  world.Start(0, broadcast);
  ASSERT_TRUE(world.engine(0).Advance().value());
  broadcast.root = Rank{1};
  world.Start(1, broadcast);
  const auto found = world.engine(1).Advance();
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(
      found.error().message,
      HasSubstr("rank 0 called broadcast of 4 int32 at root 0, rank 1 called broadcast of 4 "
                "int32 at root 1, as operation 0"));
  broadcast.root = Rank{0};
  world.Start(0, broadcast);
  const auto next = world.engine(0).Advance();
  ASSERT_FALSE(next.ok());
  EXPECT_THAT(next.error().message, HasSubstr("rank 1 has given up"));
}

// Ranks with cores fence all ranks before they sleep, and post without a fence. Each waits for the
// other in every operation and sleeps almost at once, so that each post meets a rank that is about
// to sleep. A lost wake-up delays its rank until the deadline.
TEST(ShmCollective, NoWakeUpIsLostByPostsWithoutFences) {
  auto arena =
      transport::Arena::Create({.ranks = 2, .slot_bytes = kSlotBytes, .stage_bytes = kStageBytes})
          .value();
  (void)os::JoinRemoteFences();  // without it, posts have fences, and the test proves less
  const Instant deadline = os::Now() + std::chrono::seconds(60);
  const RunPolicy policy{.check = [&]() -> Status {
                           if (os::Now() < deadline) return Ok();
                           return Error{Code::kTimeout, "a rank slept through a post"};
                         },
                         .sleep_max = std::chrono::seconds(100)};
  const auto body = [&](std::uint32_t rank) {
    const WaitPolicy looks{.looks = 1};
    ShmCollective engine(arena, rank, looks);
    PostWaiter links(arena->rank(rank), rank);  // unused: the engine has its own
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      engine.Start({.kind = CallKind::kBarrier}, Algorithm::kOneShot, i);
      const Status status = RunToEnd(engine, links, policy);
      ASSERT_TRUE(status.ok()) << status.error().message << " in operation " << i;
    }
  };
  std::jthread other([&] { body(1); });
  body(0);
}

TEST(ShmCollective, AllRanksUseLocalFencesIfASingleRankCannotFenceForOthers) {
  auto arena =
      transport::Arena::Create({.ranks = 2, .slot_bytes = kSlotBytes, .stage_bytes = kStageBytes})
          .value();
  const bool joined = os::JoinRemoteFences();
  ShmCollective looks(arena, 0, {.looks = 1});
  ShmCollective sleeps(arena, 1, {});
  EXPECT_EQ(arena->rank(0).fences, joined ? 1u : 0u);
  EXPECT_EQ(arena->rank(1).fences, 0u);
  const auto fences = [](const ShmCollective& engine) {
    return dynamic_cast<const PostWaiter&>(*engine.place()->waiter).fences();
  };
  EXPECT_EQ(fences(looks), arena->rank(0).fences == 1);
  EXPECT_FALSE(fences(sleeps));
  EXPECT_FALSE(arena->AllFenceForOthers());
  if (!joined) return;  // the kernel does not support fences
  arena->FenceForOthers(1);
  EXPECT_TRUE(arena->AllFenceForOthers());
}

}  // namespace
}  // namespace ringlet::collective
