// Runs all ranks of a host in one thread. A seeded scheduler calls their Advance in any order, so
// that every relevant interleaving occurs.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/value/prng.hpp"
#include "collective/shm/shm_collective.hpp"

namespace ringlet::collective {

// Small, so that little data takes several slices.
inline constexpr std::size_t kSlotBytes = 256;
inline constexpr std::size_t kStageBytes = 1024;

/// Returns one-shot if a slot of the arena holds a rank's data, else slices.
inline Algorithm ExpectedAlgorithm(const Call& call, std::uint32_t ranks, std::size_t slot_bytes) {
  const std::size_t given = BlockBytes(call) * (PieceEach(call.kind) ? ranks : 1);
  return given <= slot_bytes ? Algorithm::kOneShot : Algorithm::kSlices;
}

class World {
 public:
  World(std::uint32_t ranks, std::uint64_t seed, const ShmOptions& options = {}) : prng_(seed) {
    auto arena = transport::Arena::Create(
        {.ranks = ranks, .slot_bytes = kSlotBytes, .stage_bytes = kStageBytes});
    RINGLET_ASSERT(arena.ok());
    arena_ = *arena;
    begun_.resize(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      engines_.push_back(std::make_unique<ShmCollective>(arena_, rank, WaitPolicy{}, options));
  }

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(engines_.size()); }
  ShmCollective& engine(std::uint32_t rank) { return *engines_[rank]; }
  void Start(std::uint32_t rank, const Call& call) {
    engine(rank).Start(call, ExpectedAlgorithm(call, ranks(), kSlotBytes), begun_[rank]++);
  }
  transport::Arena& arena() { return *arena_; }
  Prng& prng() { return prng_; }

  // Each rank runs its list, and the scheduler draws the next rank to advance. Ends when all are
  // done or with the first error.
  Status Run(const std::vector<std::vector<Call>>& lists) {
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
      if (!running[rank]) Start(rank, lists[rank][at[rank]]);
      running[rank] = true;
      const auto before = ProgressOf(rank);
      RINGLET_TRY_ASSIGN(const bool done, engine(rank).Advance());
      const bool moved = done || engine(rank).moved();
      EXPECT_TRUE(moved || ProgressOf(rank) == before) << "rank " << rank << " says it stood still";
      if (!done) continue;
      running[rank] = false;
      ++at[rank];
    }
    return Error{Code::kTimeout, engine(0).WaitingFor()};
  }

 private:
  std::array<std::uint64_t, 3> ProgressOf(std::uint32_t rank) {
    const transport::ArenaProgress& progress = arena_->rank(rank).progress;
    return {progress.put.load(), progress.reduced.load(), progress.got.load()};
  }

  std::shared_ptr<transport::Arena> arena_;
  std::vector<std::unique_ptr<ShmCollective>> engines_;
  std::vector<std::uint64_t> begun_;  // number of operations, by rank
  Prng prng_;
};

// One operation on all ranks, with its buffers and expected results. Elements are int32, because
// their sums do not depend on the order.
class Scene {
 public:
  Scene(Call call, std::uint32_t ranks, bool in_place, Prng& prng) : call_(call) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const CallPlace place{Rank{rank}, ranks};
      inputs_.emplace_back(InputCount(call, place));
      for (std::int32_t& value : inputs_.back())
        value = static_cast<std::int32_t>(prng.Below(1000));
      outputs_.emplace_back(OutputCount(call, place), -1);
    }
    Expect(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) Place(rank, in_place);
  }

  Call call(std::uint32_t rank) const { return calls_[rank]; }
  void Check(const std::string& what) const {
    for (std::size_t rank = 0; rank < calls_.size(); ++rank) {
      const auto& expected = expected_[rank];
      if (expected.empty()) continue;
      EXPECT_EQ(std::memcmp(calls_[rank].output.data(), expected.data(), expected.size() * 4), 0)
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

  // Follows NCCL's documentation rather than the engine's arithmetic.
  std::int32_t Value(std::uint32_t to, std::size_t i, std::uint32_t ranks) const {
    const auto count = static_cast<std::size_t>(call_.count);
    const std::size_t block = i / count, within = i % count;
    const std::uint32_t root = Index(call_.root);
    switch (call_.kind) {
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

  // In place, the smaller of input and output is the rank's own part of the larger one.
  void Place(std::uint32_t rank, bool in_place) {
    Call call = call_;
    Elements& input = inputs_[rank];
    Elements& output = outputs_[rank];
    call.input = std::as_bytes(std::span(input));
    call.output = std::as_writable_bytes(std::span(output));
    const std::size_t own = rank * static_cast<std::size_t>(call.count);
    if (in_place && call.kind != CallKind::kAllToAll && !input.empty() && !output.empty()) {
      if (output.size() > input.size()) {
        std::copy(input.begin(), input.end(), output.begin() + static_cast<std::ptrdiff_t>(own));
        call.input = call.output.subspan(own * 4, call.input.size());
      } else {
        const std::size_t at = input.size() > output.size() ? own * 4 : 0;
        call.output = std::as_writable_bytes(std::span(input)).subspan(at, call.output.size());
      }
    }
    calls_.push_back(call);
  }

  Call call_;
  std::vector<Elements> inputs_, outputs_, expected_;
  std::vector<Call> calls_;
};

inline Call RandomCall(std::uint32_t ranks, Prng& prng) {
  constexpr CallKind kKinds[] = {
      CallKind::kAllReduce, CallKind::kAllGather, CallKind::kReduceScatter, CallKind::kBroadcast,
      CallKind::kReduce,    CallKind::kAllToAll,  CallKind::kAllToAllV,     CallKind::kGather,
      CallKind::kScatter,   CallKind::kBarrier};
  constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kAvg};
  constexpr std::uint64_t kCounts[] = {0, 1, 2, 4, 7, 8, 16, 17, 63, 64, 65, 255, 256, 300, 1031};
  const CallKind kind = kKinds[prng.Below(std::size(kKinds))];
  const bool empty = kind == CallKind::kBarrier || kind == CallKind::kAllToAllV;
  return {.kind = kind,
          .count = empty ? 0 : kCounts[prng.Below(std::size(kCounts))],
          .type = DataType::kInt32,
          .op = kOps[prng.Below(std::size(kOps))],
          .root = Rank{static_cast<std::uint32_t>(prng.Below(ranks))}};
}

/// Runs random operations one after the other on all ranks, with steps in any order, and compares
/// the results with naive ones.
inline void ExpectAnySequenceIsRight(World& world, int operations) {
  std::vector<Scene> scenes;
  std::vector<std::vector<Call>> lists(world.ranks());
  for (int i = 0; i < operations; ++i) {
    scenes.emplace_back(RandomCall(world.ranks(), world.prng()), world.ranks(),
                        world.prng().Below(2) == 0, world.prng());
    for (std::uint32_t rank = 0; rank < world.ranks(); ++rank)
      lists[rank].push_back(scenes.back().call(rank));
  }
  const Status status = world.Run(lists);
  ASSERT_TRUE(status.ok()) << status.error().message;
  for (std::size_t i = 0; i < scenes.size(); ++i) scenes[i].Check("operation " + std::to_string(i));
}

}  // namespace ringlet::collective
