#include "collective/algorithm/direct.hpp"

#include <algorithm>

#include "collective/algorithm/algorithm.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

/// The rank `distance` ranks ahead of or behind this rank.
Rank RankAhead(PeerSet peers, std::uint32_t distance) {
  return Rank{(Index(peers.self) + distance) % peers.ranks};
}
Rank RankBehind(PeerSet peers, std::uint32_t distance) {
  return Rank{(Index(peers.self) + peers.ranks - distance) % peers.ranks};
}

std::size_t PlaceOf(std::span<const Rank> order, Rank rank) {
  const auto found = std::find(order.begin(), order.end(), rank);
  RINGLET_ASSERT(found != order.end());
  return static_cast<std::size_t>(found - order.begin());
}

}  // namespace

Schedule DirectAllToAll(PeerSet peers, std::size_t count) {
  const std::size_t all = count * peers.ranks;
  Schedule schedule{.input_count = all, .output_count = all};
  for (std::uint32_t distance = 1; distance < peers.ranks; ++distance) {
    const Rank to = RankAhead(peers, distance), from = RankBehind(peers, distance);
    schedule.Send(to, Input(Index(to) * count), count);
    schedule.Receive(from, Output(Index(from) * count), count);
  }
  const std::size_t own = Index(peers.self) * count;
  schedule.Copy(Input(own), Output(own), count);
  return schedule;
}

Schedule DirectGather(PeerSet peers, Rank root, std::size_t count) {
  Schedule schedule{.input_count = count};
  if (peers.self != root) {
    schedule.Send(root, Input(), count);
    return schedule;
  }
  schedule.output_count = count * peers.ranks;
  for (std::uint32_t distance = 1; distance < peers.ranks; ++distance) {
    const Rank from = RankAhead(peers, distance);
    schedule.Receive(from, Output(Index(from) * count), count);
  }
  schedule.Copy(Input(), Output(Index(root) * count), count);
  return schedule;
}

Schedule DirectScatter(PeerSet peers, Rank root, std::size_t count) {
  Schedule schedule{.output_count = count};
  if (peers.self != root) {
    schedule.Receive(root, Output(), count);
    return schedule;
  }
  schedule.input_count = count * peers.ranks;
  for (std::uint32_t distance = 1; distance < peers.ranks; ++distance) {
    const Rank to = RankAhead(peers, distance);
    schedule.Send(to, Input(Index(to) * count), count);
  }
  schedule.Copy(Input(Index(root) * count), Output(), count);
  return schedule;
}

Schedule DirectAllGather(PeerSet peers, std::size_t count) {
  Schedule schedule{.input_count = count, .output_count = count * peers.ranks};
  for (std::uint32_t distance = 1; distance < peers.ranks; ++distance) {
    const Rank to = RankAhead(peers, distance), from = RankBehind(peers, distance);
    schedule.Send(to, Input(), count);
    schedule.Receive(from, Output(Index(from) * count), count);
  }
  schedule.Copy(Input(), Output(Index(peers.self) * count), count);
  return schedule;
}

Schedule DirectReduceScatter(PeerSet peers, std::size_t count) {
  Schedule schedule{.input_count = count * peers.ranks, .output_count = count};
  Place sum = Input(Index(peers.self) * count);
  if (peers.ranks == 1) schedule.Copy(sum, Output(), count).finishes = true;
  for (std::uint32_t distance = 1; distance < peers.ranks; ++distance) {
    const Rank to = RankBehind(peers, distance), from = RankAhead(peers, distance);
    schedule.Send(to, Input(Index(to) * count), count);
    schedule.ReceiveReduce(from, sum, Output(), count).finishes = distance + 1 == peers.ranks;
    sum = Output();
  }
  return schedule;
}

Schedule DirectAllReduce(std::span<const Rank> order, Rank self, std::size_t count) {
  const std::size_t place = PlaceOf(order, self);
  const std::size_t last = order.size() - 1;
  Schedule schedule{.input_count = count, .output_count = count};
  for (std::size_t distance = 1; distance < order.size(); ++distance)
    schedule.Send(order[(place + distance) % order.size()], Input(), count);
  // Sums stay in scratch until the last one, for two reasons: the output may be memory that is
  // still being sent, and over links without buffers, peers wait until this rank receives.
  schedule.scratch_count = last == 0 ? 0 : count;
  if (place > 0) schedule.Receive(order[0], Scratch(), count);
  for (std::size_t i = 1; i < place; ++i)
    schedule.ReceiveReduce(order[i], Scratch(), Scratch(), count);
  if (place == last) schedule.Copy(Input(), Output(), count);
  if (place > 0 && place == last) schedule.Reduce(Scratch(), Output(), count).swapped = true;
  if (place > 0 && place < last) schedule.Reduce(Input(), Scratch(), count);
  for (std::size_t i = place + 1; i <= last; ++i)
    schedule.ReceiveReduce(order[i], i == 1 ? Input() : Scratch(), i == last ? Output() : Scratch(),
                           count);
  schedule.steps.back().finishes = true;
  return schedule;
}

Schedule DirectBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count) {
  Schedule schedule{.input_count = self == root ? count : 0, .output_count = count};
  if (self != root) {
    schedule.Receive(root, Output(), count);
    return schedule;
  }
  const std::size_t place = PlaceOf(order, root);
  for (std::size_t distance = 1; distance < order.size(); ++distance)
    schedule.Send(order[(place + distance) % order.size()], Input(), count);
  schedule.Copy(Input(), Output(), count);
  return schedule;
}

Schedule DirectReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count) {
  Schedule schedule{.input_count = count, .output_count = self == root ? count : 0};
  if (self != root) {
    schedule.Send(root, Input(), count);
    return schedule;
  }
  const std::size_t place = PlaceOf(order, root);
  for (std::size_t distance = 1; distance < order.size(); ++distance)
    schedule.ReceiveReduce(order[(place + distance) % order.size()],
                           distance == 1 ? Input() : Output(), Output(), count);
  if (order.size() == 1) schedule.Copy(Input(), Output(), count);
  schedule.steps.back().finishes = true;
  return schedule;
}

namespace {

std::uint64_t ToEachNs(const CallCost& one) {
  return one.ToEach() + AddingBlocksNs(one);
}

/// Every rank adds up the data of all others.
std::uint64_t DirectAllReduceNs(const CallCost& one) {
  return one.ToEach() + (one.ranks - 1) * one.Reducing(one.bytes);
}

std::uint64_t DirectBroadcastNs(const CallCost& one) {
  return one.ToEach() + (one.ranks - 1) * ReduceBlockNs(one);
}

/// Time of a transfer from or to one rank.
std::uint64_t DirectGatherNs(const CallCost& one) {
  return one.Burst(one.slowest(), one.ranks - 1, (one.ranks - 1) * one.bytes);
}

// On one host, other algorithms are as fast for calls without a block per rank.
constexpr AlgorithmCase kDirectCases[] = {
    {CallKind::kAllReduce, AmongHosts, OverOrder<DirectAllReduce>, DirectAllReduceNs},
    {CallKind::kBarrier, AmongHosts, OverOrder<DirectAllReduce>, DirectAllReduceNs},
    {CallKind::kBroadcast, AmongHosts, OverOrderWithRoot<DirectBroadcast>, DirectBroadcastNs},
    {CallKind::kReduce, AmongHosts, OverOrderWithRoot<DirectReduce>, DirectBroadcastNs},
    {CallKind::kAllGather, Everywhere, OverNumbers<DirectAllGather>, ToEachNs},
    {CallKind::kReduceScatter, Everywhere, OverNumbers<DirectReduceScatter>, ToEachNs},
    {CallKind::kAllToAll, Everywhere, OverNumbers<DirectAllToAll>, ToEachNs},
    {CallKind::kGather, Everywhere, OverNumbersWithRoot<DirectGather>, DirectGatherNs},
    {CallKind::kScatter, Everywhere, OverNumbersWithRoot<DirectScatter>, DirectGatherNs},
};

}  // namespace

constinit const AlgorithmRow kDirectRow{"direct", kDirectCases};

}  // namespace ringlet::collective
