#include "collective/algorithm/ring.hpp"

#include <algorithm>

#include "collective/algorithm/algorithm.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

/// A ring from the viewpoint of one rank.
struct Ring {
  std::span<const Rank> order;
  std::size_t place;

  Ring(std::span<const Rank> ranks, Rank self) : order(ranks), place(PlaceOf(self)) {}

  std::size_t size() const { return order.size(); }
  Rank next() const { return order[(place + 1) % size()]; }
  Rank previous() const { return order[(place + size() - 1) % size()]; }
  std::size_t PlaceOf(Rank rank) const {
    const auto found = std::find(order.begin(), order.end(), rank);
    RINGLET_ASSERT(found != order.end());
    return static_cast<std::size_t>(found - order.begin());
  }
  /// Returns the number of hops from `root` to this rank.
  std::size_t HopsFrom(Rank root) const { return (place + size() - PlaceOf(root)) % size(); }
};

}  // namespace

Schedule RingAllReduce(std::span<const Rank> order, Rank self, std::size_t count) {
  const Ring ring(order, self);
  const std::size_t ranks = ring.size();
  Schedule schedule{.input_count = count, .output_count = count};
  if (ranks == 1) schedule.Copy(Input(), Output(), count).finishes = true;
  const auto chunk = [&](std::size_t index) { return EvenChunk(count, ranks, index % ranks); };
  // A chunk advances by one place per round: a rank sends in each round what it received before.
  for (std::size_t round = 0; round + 1 < ranks; ++round) {
    const Range leaves = chunk(ring.place + ranks - round);
    const Range arrives = chunk(ring.place + ranks - round - 1);
    const Place from = round == 0 ? Input(leaves.begin) : Output(leaves.begin);
    schedule.Send(ring.next(), from, leaves.count);
    schedule
        .ReceiveReduce(ring.previous(), Input(arrives.begin), Output(arrives.begin), arrives.count)
        .finishes = round + 2 == ranks;
  }
  for (std::size_t round = 0; round + 1 < ranks; ++round) {
    const Range leaves = chunk(ring.place + 1 + ranks - round);
    const Range arrives = chunk(ring.place + ranks - round);
    schedule.Send(ring.next(), Output(leaves.begin), leaves.count);
    schedule.Receive(ring.previous(), Output(arrives.begin), arrives.count);
  }
  return schedule;
}

Schedule RingAllGather(std::span<const Rank> order, Rank self, std::size_t count) {
  const Ring ring(order, self);
  const std::size_t ranks = ring.size();
  Schedule schedule{.input_count = count, .output_count = count * ranks};
  const auto block = [&](std::size_t place) { return Output(Index(order[place % ranks]) * count); };
  for (std::size_t round = 0; round + 1 < ranks; ++round) {
    const Place leaves = round == 0 ? Input() : block(ring.place + ranks - round);
    schedule.Send(ring.next(), leaves, count);
    schedule.Receive(ring.previous(), block(ring.place + ranks - round - 1), count);
  }
  schedule.Copy(Input(), block(ring.place), count);
  return schedule;
}

Schedule RingReduceScatter(std::span<const Rank> order, Rank self, std::size_t count) {
  const Ring ring(order, self);
  const std::size_t ranks = ring.size();
  Schedule schedule{.input_count = count * ranks, .output_count = count, .scratch_count = 0};
  if (ranks == 1) schedule.Copy(Input(), Output(), count).finishes = true;
  if (ranks > 2) schedule.scratch_count = 2 * count;
  const auto block = [&](std::size_t place) { return Input(Index(order[place % ranks]) * count); };
  for (std::size_t round = 0; round + 1 < ranks; ++round) {
    const bool last = round + 2 == ranks;
    // Partial sums alternate between two slots: one is filled while the other is being sent.
    const Place leaves =
        round == 0 ? block(ring.place + ranks - 1) : Scratch((round - 1) % 2 * count);
    const Place arrives = last ? Output() : Scratch(round % 2 * count);
    schedule.Send(ring.next(), leaves, count);
    schedule
        .ReceiveReduce(ring.previous(), block(ring.place + 2 * ranks - round - 2), arrives, count)
        .finishes = last;
  }
  return schedule;
}

Schedule RingBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count) {
  const Ring ring(order, self);
  const std::size_t hops = ring.HopsFrom(root);
  Schedule schedule{.input_count = self == root ? count : 0, .output_count = count};
  if (hops > 0) schedule.Receive(ring.previous(), Output(), count);
  const Place from = self == root ? Input() : Output();
  if (hops + 1 < ring.size()) schedule.Send(ring.next(), from, count);
  if (self == root) schedule.Copy(Input(), Output(), count);
  return schedule;
}

Schedule RingReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count) {
  const Ring ring(order, self);
  // The pipeline begins at the root's successor and ends at the root.
  const std::size_t hops = (ring.HopsFrom(root) + ring.size() - 1) % ring.size();
  const bool is_root = self == root;
  Schedule schedule{.input_count = count,
                    .output_count = is_root ? count : 0,
                    .scratch_count = hops > 0 && !is_root ? count : 0};
  if (ring.size() == 1) schedule.Copy(Input(), Output(), count).finishes = true;
  const Place sum = is_root ? Output() : Scratch();
  if (hops > 0) {
    schedule.ReceiveReduce(ring.previous(), Input(), sum, count).finishes = is_root;
  }
  if (!is_root) schedule.Send(ring.next(), hops > 0 ? sum : Input(), count);
  return schedule;
}

namespace {

std::uint64_t RingAllReduceNs(const CallCost& one) {
  const std::uint64_t share = one.bytes / one.ranks;
  return 2 * (one.ranks - 1) * (one.Hop(one.slowest()) + one.Moving(one.slowest(), share)) +
         (one.ranks - 1) * one.Reducing(share);
}

std::uint64_t RingAllGatherNs(const CallCost& one) {
  return AddingBlocksNs(one) +
         (one.ranks - 1) * (one.Hop(one.slowest()) + one.Moving(one.slowest(), one.bytes));
}

constexpr AlgorithmCase kRingCases[] = {
    {CallKind::kAllReduce, Everywhere, OverOrder<RingAllReduce>, RingAllReduceNs},
    {CallKind::kAllGather, Everywhere, OverOrder<RingAllGather>, RingAllGatherNs},
    {CallKind::kReduceScatter, Everywhere, OverOrder<RingReduceScatter>, RingAllGatherNs},
    {CallKind::kBroadcast, Everywhere, OverOrderWithRoot<RingBroadcast>, PipelineNs},
    {CallKind::kReduce, Everywhere, OverOrderWithRoot<RingReduce>, PipelineNs},
};

}  // namespace

constinit const AlgorithmRow kRingRow{"ring", kRingCases, {}, NcclShape::kRing};

std::uint64_t PipelineNs(const CallCost& one) {
  return (one.ranks - one.hosts) * one.Hop(one.model.local) +
         (one.hosts - 1) * one.Hop(one.model.remote) + one.Moving(one.slowest(), one.bytes) +
         ReduceBlockNs(one);
}

}  // namespace ringlet::collective
