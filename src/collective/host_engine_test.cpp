// The engine against naive results. All ranks live in one thread here: a scheduler drawn from a
// seed calls their Advance in any order, so every interleaving that matters comes up.
#include "collective/host_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/prng.hpp"

namespace ringlet::collective {
namespace {

using ::testing::HasSubstr;
using transport::Arena;
using transport::ArenaShape;

// Small parts, so that little data already takes several slices.
constexpr std::size_t kSlotBytes = 256;
constexpr std::size_t kStageBytes = 1024;

class World {
 public:
  World(std::uint32_t ranks, std::uint64_t seed, HostTuning tuning = {}) : prng_(seed) {
    auto arena =
        Arena::Create({.ranks = ranks, .slot_bytes = kSlotBytes, .stage_bytes = kStageBytes});
    RINGLET_ASSERT(arena.ok());
    arena_ = *arena;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      engines_.push_back(std::make_unique<HostEngine>(arena_, rank, Patience{}, tuning));
  }

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(engines_.size()); }
  HostEngine& engine(std::uint32_t rank) { return *engines_[rank]; }
  Arena& arena() { return *arena_; }
  Prng& prng() { return prng_; }

  // Each rank carries out its list, the next rank to move is drawn. Ends with all done or, with
  // the first error, that.
  Status Run(const std::vector<std::vector<HostCall>>& lists) {
    std::vector<std::size_t> at(ranks(), 0);
    std::vector<bool> running(ranks(), false);
    constexpr int kTurnsMax = 2'000'000;
    for (int turn = 0; turn < kTurnsMax; ++turn) {
      const auto rank = static_cast<std::uint32_t>(prng_.Below(ranks()));
      if (at[rank] == lists[rank].size()) {
        if (std::equal(at.begin(), at.end(), lists.begin(),
                       [](std::size_t done, const auto& list) { return done == list.size(); }))
          return Ok();
        continue;
      }
      if (!running[rank]) engine(rank).Start(lists[rank][at[rank]]);
      running[rank] = true;
      RINGLET_TRY_ASSIGN(const bool done, engine(rank).Advance());
      if (!done) continue;
      running[rank] = false;
      ++at[rank];
    }
    return Error{Code::kTimeout, engine(0).WaitingFor()};
  }

 private:
  std::shared_ptr<Arena> arena_;
  std::vector<std::unique_ptr<HostEngine>> engines_;
  Prng prng_;
};

// One operation on all ranks, with its buffers and what must be in them in the end. Elements are
// int32, which add up alike in any order.
class Scene {
 public:
  Scene(HostCall call, std::uint32_t ranks, bool in_place, Prng& prng) : call_(call) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const HostSizes sizes = SizesOf(call, rank, ranks);
      inputs_.emplace_back(sizes.input / 4);
      for (std::int32_t& value : inputs_.back())
        value = static_cast<std::int32_t>(prng.Below(1000));
      outputs_.emplace_back(sizes.output / 4, -1);
    }
    Expect(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) Place(rank, in_place);
  }

  HostCall call(std::uint32_t rank) const { return calls_[rank]; }
  void Check(const std::string& what) const {
    for (std::size_t rank = 0; rank < calls_.size(); ++rank) {
      const auto& expected = expected_[rank];
      if (expected.empty()) continue;
      EXPECT_EQ(std::memcmp(calls_[rank].output, expected.data(), expected.size() * 4), 0)
          << what << ", rank " << rank << ": " << ToText(call_);
    }
  }

 private:
  using Elements = std::vector<std::int32_t>;

  void Expect(std::uint32_t ranks) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      Elements expected = outputs_[to];
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = Value(to, i, ranks);
      expected_.push_back(std::move(expected));
    }
  }

  // Written down from NCCL's documentation, not from the engine's arithmetic.
  std::int32_t Value(std::uint32_t to, std::size_t i, std::uint32_t ranks) const {
    const auto count = static_cast<std::size_t>(call_.count);
    const std::size_t block = i / count, within = i % count;
    const std::uint32_t root = Index(call_.root);
    switch (call_.operation) {
      case CallKind::kAllReduce:
      case CallKind::kReduce: return Sum(i, ranks);
      case CallKind::kReduceScatter: return Sum(to * count + i, ranks);
      case CallKind::kAllGather:
      case CallKind::kGather: return inputs_[block][within];
      case CallKind::kBroadcast: return inputs_[root][i];
      case CallKind::kScatter: return inputs_[root][to * count + i];
      case CallKind::kAllToAll: return inputs_[block][to * count + within];
      default: return 0;
    }
    return 0;
  }
  std::int32_t Sum(std::size_t i, std::uint32_t ranks) const {
    std::int32_t sum = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      sum = call_.op == ReduceOp::kMax ? std::max(sum, inputs_[rank][i]) : sum + inputs_[rank][i];
    return call_.op == ReduceOp::kAvg ? sum / static_cast<std::int32_t>(ranks) : sum;
  }

  // In place: the smaller of input and output is the rank's own part of the larger one.
  void Place(std::uint32_t rank, bool in_place) {
    HostCall call = call_;
    Elements& input = inputs_[rank];
    Elements& output = outputs_[rank];
    call.input = reinterpret_cast<const std::byte*>(input.data());
    call.output = reinterpret_cast<std::byte*>(output.data());
    const std::size_t own = rank * static_cast<std::size_t>(call.count);
    if (in_place && call.operation != CallKind::kAllToAll && !input.empty() && !output.empty()) {
      if (output.size() > input.size()) {
        std::copy(input.begin(), input.end(), output.begin() + static_cast<std::ptrdiff_t>(own));
        call.input = call.output + own * 4;
      } else {
        const std::size_t at = input.size() > output.size() ? own * 4 : 0;
        call.output = reinterpret_cast<std::byte*>(input.data()) + at;
      }
    }
    calls_.push_back(call);
  }

  HostCall call_;
  std::vector<Elements> inputs_, outputs_, expected_;
  std::vector<HostCall> calls_;
};

HostCall RandomCall(std::uint32_t ranks, Prng& prng) {
  constexpr CallKind kKinds[] = {
      CallKind::kAllReduce, CallKind::kAllGather, CallKind::kReduceScatter, CallKind::kBroadcast,
      CallKind::kReduce,    CallKind::kAllToAll,  CallKind::kAllToAllV,     CallKind::kGather,
      CallKind::kScatter,   CallKind::kBarrier};
  constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kAvg};
  constexpr std::uint64_t kCounts[] = {0, 1, 2, 4, 7, 8, 16, 17, 63, 64, 65, 255, 256, 300, 1031};
  const CallKind kind = kKinds[prng.Below(std::size(kKinds))];
  const bool empty = kind == CallKind::kBarrier || kind == CallKind::kAllToAllV;
  return {.operation = kind,
          .type = DataType::kInt32,
          .op = kOps[prng.Below(std::size(kOps))],
          .count = empty ? 0 : kCounts[prng.Below(std::size(kCounts))],
          .root = Rank{static_cast<std::uint32_t>(prng.Below(ranks))}};
}

TEST(HostEngine, EveryOperationOfEverySizeInAnyOrderOfSteps) {
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, seed " << seed);
      World world(ranks, seed, {.stream_bytes_min = seed % 2 == 0 ? std::size_t{4096} : 1});
      std::vector<Scene> scenes;
      std::vector<std::vector<HostCall>> lists(ranks);
      for (int i = 0; i < 40; ++i) {
        scenes.emplace_back(RandomCall(ranks, world.prng()), ranks, world.prng().Below(2) == 0,
                            world.prng());
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
          lists[rank].push_back(scenes.back().call(rank));
      }
      const Status status = world.Run(lists);
      ASSERT_TRUE(status.ok()) << status.error().message;
      for (std::size_t i = 0; i < scenes.size(); ++i)
        scenes[i].Check("operation " + std::to_string(i));
    }
  }
}

TEST(HostEngine, SumsAreTheSameOnAllRanksBitForBit) {
  for (const std::size_t count : {5u, 2000u}) {
    World world(5, count);
    std::vector<std::vector<float>> outputs(5, std::vector<float>(count));
    std::vector<std::vector<float>> inputs(5, std::vector<float>(count));
    std::vector<std::vector<HostCall>> lists;
    for (std::size_t rank = 0; rank < 5; ++rank) {
      for (float& value : inputs[rank])
        value = static_cast<float>(world.prng().Next() % 100000) * 1e-3f;
      lists.push_back({{.operation = CallKind::kAllReduce,
                        .type = DataType::kFloat32,
                        .count = count,
                        .input = reinterpret_cast<const std::byte*>(inputs[rank].data()),
                        .output = reinterpret_cast<std::byte*>(outputs[rank].data())}});
    }
    ASSERT_TRUE(world.Run(lists).ok());
    for (std::size_t i = 0; i < count; ++i) {
      float sum = inputs[0][i];
      for (std::size_t rank = 1; rank < 5; ++rank) sum += inputs[rank][i];
      for (std::size_t rank = 0; rank < 5; ++rank) ASSERT_EQ(outputs[rank][i], sum) << i;
    }
  }
}

// ---- ranks that disagree ------------------------------------------------------------------------

constexpr std::uint64_t kSmall = 4, kLarge = 1000;

TEST(HostEngine, WhoCallsSomethingElseIsNamedOnAllRanks) {
  const HostCall sum{.operation = CallKind::kAllReduce, .type = DataType::kInt32, .count = kSmall};
  HostCall large = sum, max = sum, gather = sum, wide = sum;
  large.count = kLarge;
  max.op = ReduceOp::kMax;
  gather.operation = CallKind::kAllGather;
  wide.type = DataType::kInt64;
  for (const HostCall& other : {large, max, gather, wide}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(testing::Message() << ToText(other) << ", seed " << seed);
      World world(3, seed);
      std::vector<Bytes> memory(6, Bytes(32 * kLarge));
      std::vector<std::string> said(3);
      for (std::uint32_t rank = 0; rank < 3; ++rank) {
        HostCall call = rank == 1 ? other : sum;
        call.input = memory[2 * rank].data();
        call.output = memory[2 * rank + 1].data();
        world.engine(rank).Start(call);
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

TEST(HostEngine, RootsThatDisagreeAreFoundAtTheNextMeeting) {
  World world(2, 1);
  std::vector<Bytes> memory(4, Bytes(64));
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    world.engine(rank).Start({.operation = CallKind::kBroadcast,
                              .type = DataType::kInt32,
                              .count = kSmall,
                              .root = Rank{rank},
                              .input = memory[rank].data(),
                              .output = memory[2 + rank].data()});
  }
  // Rank 0 gives and is done; rank 1 gives, sees what rank 0 called, and objects.
  const auto first = world.engine(0).Advance();
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_THAT(world.engine(1).Advance().error().message, HasSubstr("at root 0"));
  world.engine(0).Start({.operation = CallKind::kBarrier});
  auto second = world.engine(0).Advance();
  EXPECT_FALSE(second.ok());
}

TEST(HostEngine, WhatRanksCalledBeforeIsComparedToo) {
  World world(2, 1);
  Bytes memory(64);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    world.engine(rank).Start({.operation = CallKind::kBroadcast,
                              .type = DataType::kInt32,
                              .count = kSmall - rank,  // nobody looks: both are roots
                              .root = Rank{rank},
                              .input = memory.data(),
                              .output = memory.data()});
    if (rank == 1) world.arena().post(0, 1).sequence = 0;  // as if it had not come yet
    ASSERT_TRUE(world.engine(rank).Advance().value());
  }
  world.engine(0).Start({.operation = CallKind::kBarrier});
  world.engine(1).Start({.operation = CallKind::kBarrier});
  ASSERT_TRUE(world.engine(0).Advance().ok());
  EXPECT_THAT(world.engine(1).Advance().error().message,
              HasSubstr("different operations before operation 1"));
}

TEST(HostEngine, GivingUpFreesTheOthers) {
  for (const std::uint64_t count : {kSmall, kLarge}) {
    World world(2, 1);
    Bytes memory(4 * kLarge);
    world.engine(0).Start({.operation = CallKind::kAllReduce,
                           .type = DataType::kInt32,
                           .count = count,
                           .input = memory.data(),
                           .output = memory.data()});
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

TEST(HostEngine, WhoHasLeftIsAwaitedNoMoreButWhatItDidCounts) {
  World world(2, 1);
  Bytes memory(64);
  const HostCall sum{.operation = CallKind::kAllReduce,
                     .type = DataType::kInt32,
                     .count = kSmall,
                     .input = memory.data(),
                     .output = memory.data()};
  world.engine(0).Start(sum);
  ASSERT_FALSE(world.engine(0).Advance().value());
  world.engine(1).Start(sum);
  ASSERT_TRUE(world.engine(1).Advance().value());
  world.engine(1).Leave();
  ASSERT_TRUE(world.engine(0).Advance().value()) << "it left after its part";
  world.engine(0).Start(sum);
  ASSERT_FALSE(world.engine(0).Advance().value());  // posts
  ASSERT_FALSE(world.engine(0).Advance().value());  // looks once more
  const auto error = world.engine(0).Advance();
  ASSERT_FALSE(error.ok());
  EXPECT_EQ(error.error().code, Code::kPeerLost);
  EXPECT_THAT(error.error().message, HasSubstr("rank 1 has left"));
}

TEST(HostEngine, PostsThatCannotBeReadAreRefused) {
  World world(2, 1);
  Bytes memory(64);
  world.arena().post(1, 1).call = 0xffffffffffffffff;
  world.arena().post(1, 1).sequence = 1;
  world.engine(0).Start({.operation = CallKind::kAllReduce,
                         .type = DataType::kInt32,
                         .count = kSmall,
                         .input = memory.data(),
                         .output = memory.data()});
  EXPECT_THAT(world.engine(0).Advance().error().message, HasSubstr("what cannot be read"));
}

}  // namespace
}  // namespace ringlet::collective
