#include "collective/algorithm/bruck.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "collective/algorithm/algorithm.hpp"

namespace ringlet::collective {
namespace {

Rank RankAhead(PeerSet peers, std::size_t distance) {
  return Rank{static_cast<std::uint32_t>((Index(peers.self) + distance) % peers.ranks)};
}
Rank RankBehind(PeerSet peers, std::size_t distance) {
  return Rank{
      static_cast<std::uint32_t>((Index(peers.self) + peers.ranks - distance) % peers.ranks)};
}

std::size_t RoundsOf(std::uint32_t ranks) {
  return static_cast<std::size_t>(std::bit_width(ranks - 1u));
}

/// Visits the blocks [first, first + blocks) of a circle of `ranks` blocks as one or two ranges.
template <typename Visit>
void ForEachPiece(std::size_t first, std::size_t blocks, std::size_t ranks, Visit visit) {
  first %= ranks;
  const std::size_t before_end = std::min(blocks, ranks - first);
  visit(first, before_end);
  if (blocks > before_end) visit(std::size_t{0}, blocks - before_end);
}

/// Tracks the blocks of an all-to-all while they travel. The destination of block d is `d` ranks
/// ahead of its source. In round k, all blocks that have bit k set in d move, packed in ascending
/// order.
class BlockTransfers {
 public:
  BlockTransfers(PeerSet peers, std::size_t count) : count_(count) {
    for (std::size_t round = 0; round < RoundsOf(peers.ranks); ++round) {
      auto& blocks = rounds_.emplace_back();
      for (std::size_t d = 1; d < peers.ranks; ++d)
        if ((d >> round & 1) != 0) blocks.push_back(d);
      begins_.push_back(total_);
      total_ += 2 * blocks.size();
    }
  }

  std::size_t scratch_count() const { return total_ * count_; }
  std::size_t rounds() const { return rounds_.size(); }
  const std::vector<std::size_t>& BlocksOf(std::size_t round) const { return rounds_[round]; }
  Place SendPlace(std::size_t round) const { return Scratch(begins_[round] * count_); }
  Place ReceivePlace(std::size_t round) const {
    return Scratch((begins_[round] + rounds_[round].size()) * count_);
  }
  /// Returns the place of block `d` before round `round`: in the input, or at its last arrival.
  Place Before(std::size_t round, std::size_t d, PeerSet peers) const {
    const std::size_t earlier = d & ((std::size_t{1} << round) - 1);
    if (earlier == 0) return Input(Index(RankAhead(peers, d)) * count_);
    const auto last = static_cast<std::size_t>(std::bit_width(earlier) - 1);
    const auto& blocks = rounds_[last];
    const auto found = std::lower_bound(blocks.begin(), blocks.end(), d);
    Place place = ReceivePlace(last);
    place.begin += static_cast<std::size_t>(found - blocks.begin()) * count_;
    return place;
  }

 private:
  std::size_t count_;
  std::vector<std::vector<std::size_t>> rounds_;
  std::vector<std::size_t> begins_;
  std::size_t total_ = 0;  // blocks
};

}  // namespace

Schedule BruckAllGather(PeerSet peers, std::size_t count) {
  const std::size_t ranks = peers.ranks, self = Index(peers.self);
  Schedule schedule{.input_count = count, .output_count = count * ranks};
  schedule.Copy(Input(), Output(self * count), count);
  for (std::size_t held = 1; held < ranks; held *= 2) {
    const std::size_t blocks = std::min(held, ranks - held);
    const Rank to = RankBehind(peers, held), from = RankAhead(peers, held);
    // Blocks arrive at their final place, so sender and receiver split them at the same points.
    ForEachPiece(self, blocks, ranks, [&](std::size_t first, std::size_t pieces) {
      schedule.Send(to, Output(first * count), pieces * count);
    });
    ForEachPiece(self + held, blocks, ranks, [&](std::size_t first, std::size_t pieces) {
      schedule.Receive(from, Output(first * count), pieces * count);
    });
  }
  return schedule;
}

Schedule BruckAllToAll(PeerSet peers, std::size_t count) {
  const std::size_t all = count * peers.ranks, own = Index(peers.self) * count;
  const BlockTransfers parcels(peers, count);
  Schedule schedule{
      .input_count = all, .output_count = all, .scratch_count = parcels.scratch_count()};
  schedule.Copy(Input(own), Output(own), count);
  for (std::size_t round = 0; round < parcels.rounds(); ++round) {
    const std::vector<std::size_t>& blocks = parcels.BlocksOf(round);
    Place leaving = parcels.SendPlace(round);
    for (const std::size_t d : blocks) {
      schedule.Copy(parcels.Before(round, d, peers), leaving, count);
      leaving.begin += count;
    }
    const std::size_t distance = std::size_t{1} << round;
    schedule.Send(RankAhead(peers, distance), parcels.SendPlace(round), blocks.size() * count);
    schedule.Receive(RankBehind(peers, distance), parcels.ReceivePlace(round),
                     blocks.size() * count);
  }
  for (std::size_t d = 1; d < peers.ranks; ++d) {
    const Place arrived = parcels.Before(parcels.rounds(), d, peers);
    schedule.Copy(arrived, Output(Index(RankBehind(peers, d)) * count), count);
  }
  return schedule;
}

Schedule DisseminationBarrier(PeerSet peers, std::size_t count) {
  Schedule schedule{.input_count = count, .output_count = count, .scratch_count = count};
  const std::size_t rounds = RoundsOf(peers.ranks);
  // Like DoublingAllReduce, the schedule never receives into data that it is sending.
  Place known = Input();
  if (rounds % 2 == 1) {
    schedule.Copy(Input(), Scratch(), count);
    known = Scratch();
  } else if (rounds == 0) {
    schedule.Copy(Input(), Output(), count);
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t distance = std::size_t{1} << round;
    const Place next = (rounds - round) % 2 == 1 ? Output() : Scratch();
    schedule.Send(RankAhead(peers, distance), known, count);
    schedule.ReceiveReduce(RankBehind(peers, distance), known, next, count);
    known = next;
  }
  return schedule;
}

std::uint64_t HeldDoublesNs(const CallCost& one) {
  std::uint64_t time = AddingBlocksNs(one);
  for (std::uint64_t held = 1; held < one.ranks; held *= 2)
    time += one.Round(held, held * one.bytes);
  return time;
}

namespace {

std::uint64_t BruckAllToAllNs(const CallCost& one) {
  std::uint64_t time = 0;
  for (std::uint64_t distance = 1; distance < one.ranks; distance *= 2) {
    const std::uint64_t packed = one.ranks / 2 * one.bytes;
    // Packing is as fast as reducing.
    time += one.Round(distance, packed) + 2 * one.Reducing(packed);
  }
  return time;
}

std::uint64_t DisseminationNs(const CallCost& one) {
  std::uint64_t time = 0;
  for (std::uint64_t distance = 1; distance < one.ranks; distance *= 2)
    time += one.Round(distance, 0);
  return time;
}

constexpr AlgorithmCase kBruckCases[] = {
    {CallKind::kAllGather, Everywhere, OverNumbers<BruckAllGather>, HeldDoublesNs},
    {CallKind::kAllToAll, Everywhere, OverNumbers<BruckAllToAll>, BruckAllToAllNs},
};

constexpr AlgorithmCase kDisseminationCases[] = {
    {CallKind::kBarrier, Everywhere, OverNumbers<DisseminationBarrier>, DisseminationNs},
};

}  // namespace

constinit const AlgorithmRow kBruckRow{"bruck", kBruckCases};
constinit const AlgorithmRow kDisseminationRow{"dissemination", kDisseminationCases};

}  // namespace ringlet::collective
