#include "collective/algorithm/doubling.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "collective/algorithm/algorithm.hpp"
#include "collective/algorithm/bruck.hpp"
#include "collective/algorithm/ring.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

/// Folds the places so that a power of two remains. Among the first 2 * extra places, each odd one
/// also represents its left neighbour.
class Fold {
 public:
  Fold(std::size_t ranks, std::size_t place)
      : players_(std::bit_floor(ranks)), extra_(ranks - players_), place_(place) {}

  std::size_t players() const { return players_; }
  std::size_t rounds() const { return static_cast<std::size_t>(std::countr_zero(players_)); }
  bool rests() const { return place_ < 2 * extra_ && place_ % 2 == 0; }
  bool speaks_for_two() const { return place_ < 2 * extra_ && place_ % 2 == 1; }
  /// Returns the neighbour that this place represents, or that represents this place.
  std::size_t other() const { return place_ ^ 1; }
  std::size_t player() const { return place_ < 2 * extra_ ? place_ / 2 : place_ - extra_; }
  std::size_t PlaceOf(std::size_t player) const {
    return player < extra_ ? 2 * player + 1 : player + extra_;
  }
  /// Returns the first place that `player` represents. For players(), returns the number of places.
  std::size_t FirstPlaceOf(std::size_t player) const { return player + std::min(player, extra_); }

 private:
  std::size_t players_;
  std::size_t extra_;
  std::size_t place_;
};

std::size_t PlaceInOrder(std::span<const Rank> order, Rank self) {
  const auto found = std::find(order.begin(), order.end(), self);
  RINGLET_ASSERT(found != order.end());
  return static_cast<std::size_t>(found - order.begin());
}

/// Shares [first, end) that a player keeps, and those that it gives away.
struct Halves {
  std::size_t keep_first, keep_end;
  std::size_t give_first, give_end;
};

Halves Halve(std::size_t first, std::size_t end, bool upper) {
  const std::size_t middle = first + (end - first) / 2;
  if (upper) return {middle, end, first, middle};
  return {first, middle, middle, end};
}

}  // namespace

Schedule DoublingAllReduce(std::span<const Rank> order, Rank self, std::size_t count) {
  const std::size_t place = PlaceInOrder(order, self);
  const Fold fold(order.size(), place);
  Schedule schedule{.input_count = count, .output_count = count};
  if (order.size() == 1) schedule.Copy(Input(), Output(), count).finishes = true;
  if (order.size() == 1) return schedule;
  if (fold.rests()) {
    schedule.Send(order[fold.other()], Input(), count);
    schedule.Receive(order[fold.other()], Output(), count);
    return schedule;
  }
  // Received data must not overwrite data that is still to be sent. So the sums alternate between
  // scratch and output, and the last one is in the output.
  schedule.scratch_count = count;
  const std::size_t rounds = fold.rounds();
  Place sum = Input();
  const auto slot = [&](std::size_t rounds_left) {
    return rounds_left % 2 == 0 ? Output() : Scratch();
  };
  if (fold.speaks_for_two()) {
    // The lower place's data is the first operand, here and in the rounds below.
    Step& step = schedule.ReceiveReduce(order[fold.other()], Input(), slot(rounds), count);
    step.swapped = true;
    sum = slot(rounds);
  } else if (rounds % 2 == 1) {
    schedule.Copy(Input(), Scratch(), count);
    sum = Scratch();
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t partner = fold.player() ^ (std::size_t{1} << round);
    const Rank peer = order[fold.PlaceOf(partner)];
    const Place next = slot(rounds - round - 1);
    schedule.Send(peer, sum, count);
    Step& step = schedule.ReceiveReduce(peer, sum, next, count);
    step.swapped = partner < fold.player();
    step.finishes = round + 1 == rounds;
    sum = next;
  }
  if (fold.speaks_for_two()) schedule.Send(order[fold.other()], Output(), count);
  return schedule;
}

Schedule HalvingAllReduce(std::span<const Rank> order, Rank self, std::size_t count) {
  const Fold fold(order.size(), PlaceInOrder(order, self));
  Schedule schedule{.input_count = count, .output_count = count};
  if (order.size() == 1) schedule.Copy(Input(), Output(), count).finishes = true;
  if (order.size() == 1) return schedule;
  if (fold.rests()) {
    schedule.Send(order[fold.other()], Input(), count);
    schedule.Receive(order[fold.other()], Output(), count);
    return schedule;
  }
  const bool doubled = fold.speaks_for_two();
  if (doubled) schedule.ReceiveReduce(order[fold.other()], Input(), Output(), count);
  const auto range = [&](std::size_t first, std::size_t end) {
    const std::size_t begin = EvenChunk(count, fold.players(), first).begin;
    return Range{begin, EvenChunk(count, fold.players(), end - 1).end() - begin};
  };
  // The nearest partners are first, because the first rounds exchange the most data.
  std::vector<Halves> halves;
  std::size_t first = 0, end = fold.players();
  for (std::size_t round = 0; round < fold.rounds(); ++round) {
    const std::size_t bit = std::size_t{1} << round;
    const Rank peer = order[fold.PlaceOf(fold.player() ^ bit)];
    halves.push_back(Halve(first, end, (fold.player() & bit) != 0));
    const Halves& now = halves.back();
    const Range keep = range(now.keep_first, now.keep_end);
    const Range give = range(now.give_first, now.give_end);
    const bool fresh = round == 0 && !doubled;
    schedule.Send(peer, fresh ? Input(give.begin) : Output(give.begin), give.count);
    schedule
        .ReceiveReduce(peer, fresh ? Input(keep.begin) : Output(keep.begin), Output(keep.begin),
                       keep.count)
        .finishes = round + 1 == fold.rounds();
    first = now.keep_first;
    end = now.keep_end;
  }
  for (std::size_t round = fold.rounds(); round-- > 0;) {
    const Rank peer = order[fold.PlaceOf(fold.player() ^ (std::size_t{1} << round))];
    const Halves& then = halves[round];
    const Range mine = range(then.keep_first, then.keep_end);
    const Range theirs = range(then.give_first, then.give_end);
    schedule.Send(peer, Output(mine.begin), mine.count);
    schedule.Receive(peer, Output(theirs.begin), theirs.count);
  }
  if (doubled) schedule.Send(order[fold.other()], Output(), count);
  return schedule;
}

Schedule HalvingReduceScatter(PeerSet peers, std::size_t count) {
  const std::size_t place = Index(peers.self);
  const Fold fold(peers.ranks, place);
  const auto rank = [](std::size_t at) { return Rank{static_cast<std::uint32_t>(at)}; };
  const std::size_t all = count * peers.ranks;
  Schedule schedule{.input_count = all, .output_count = count};
  if (peers.ranks == 1) schedule.Copy(Input(), Output(), count).finishes = true;
  if (peers.ranks == 1) return schedule;
  if (fold.rests()) {
    schedule.Send(rank(fold.other()), Input(), all);
    schedule.Receive(rank(fold.other()), Output(), count);
    return schedule;
  }
  schedule.scratch_count = all;
  const bool doubled = fold.speaks_for_two();
  if (doubled) {
    schedule.ReceiveReduce(rank(fold.other()), Input(), Scratch(), all).finishes =
        fold.rounds() == 0;
  }
  std::size_t first = 0, end = fold.players();
  for (std::size_t round = 0; round < fold.rounds(); ++round) {
    // The farthest partners are first, because shares lie in rank order.
    const std::size_t bit = fold.players() >> (round + 1);
    const Rank peer = rank(fold.PlaceOf(fold.player() ^ bit));
    const Halves now = Halve(first, end, (fold.player() & bit) != 0);
    const auto begin = [&](std::size_t player) { return fold.FirstPlaceOf(player) * count; };
    const std::size_t keep = begin(now.keep_first), give = begin(now.give_first);
    const bool fresh = round == 0 && !doubled;
    schedule.Send(peer, fresh ? Input(give) : Scratch(give), begin(now.give_end) - give);
    schedule
        .ReceiveReduce(peer, fresh ? Input(keep) : Scratch(keep), Scratch(keep),
                       begin(now.keep_end) - keep)
        .finishes = round + 1 == fold.rounds();
    first = now.keep_first;
    end = now.keep_end;
  }
  if (doubled) schedule.Send(rank(fold.other()), Scratch(fold.other() * count), count);
  schedule.Copy(Scratch(place * count), Output(), count);
  return schedule;
}

Schedule DoublingAllGather(PeerSet peers, std::size_t count) {
  RINGLET_ASSERT(std::has_single_bit(peers.ranks));
  Schedule schedule{.input_count = count, .output_count = count * peers.ranks};
  const std::uint32_t self = Index(peers.self);
  schedule.Copy(Input(), Output(self * count), count);
  for (std::uint32_t held = 1; held < peers.ranks; held *= 2) {
    const std::size_t mine = self & ~(held - 1), theirs = mine ^ held;
    const Rank peer{self ^ held};
    schedule.Send(peer, Output(mine * count), held * count);
    schedule.Receive(peer, Output(theirs * count), held * count);
  }
  return schedule;
}

namespace {

/// Time of the steps before and after doubling if the number of ranks is not a power of two.
std::uint64_t FoldNs(const CallCost& one) {
  if (std::has_single_bit(one.ranks)) return 0;
  return 2 * (one.Hop(one.model.local) + one.Moving(one.model.local, one.bytes)) +
         one.Reducing(one.bytes);
}

std::uint64_t DoublingAllReduceNs(const CallCost& one) {
  std::uint64_t time = FoldNs(one);
  for (std::uint64_t distance = 1; distance * 2 <= one.ranks; distance *= 2)
    time += one.Round(distance, one.bytes) + one.Reducing(one.bytes);
  return time;
}

std::uint64_t HalvingAllReduceNs(const CallCost& one) {
  std::uint64_t time = FoldNs(one), part = one.bytes / 2;
  for (std::uint64_t distance = 1; distance * 2 <= one.ranks; distance *= 2, part /= 2)
    time += 2 * one.Round(distance, part) + one.Reducing(part);
  return time;
}

std::uint64_t HalvingReduceScatterNs(const CallCost& one) {
  const std::uint64_t fold =
      std::has_single_bit(one.ranks)
          ? 0
          : 2 * one.Hop(one.model.local) + one.Moving(one.model.local, one.ranks * one.bytes);
  return fold + HeldDoublesNs(one);
}

bool AmongPowerOfTwo(const Layout& layout) {
  return std::has_single_bit(layout.order.size());
}

constexpr AlgorithmCase kDoublingCases[] = {
    {CallKind::kAllReduce, Everywhere, OverOrder<DoublingAllReduce>, DoublingAllReduceNs},
    {CallKind::kAllGather, AmongPowerOfTwo, OverNumbers<DoublingAllGather>, HeldDoublesNs},
};

constexpr AlgorithmCase kHalvingCases[] = {
    {CallKind::kAllReduce, Everywhere, OverOrder<HalvingAllReduce>, HalvingAllReduceNs},
    {CallKind::kReduceScatter, Everywhere, OverNumbers<HalvingReduceScatter>,
     HalvingReduceScatterNs},
};

}  // namespace

constinit const AlgorithmRow kDoublingRow{"doubling", kDoublingCases};
constinit const AlgorithmRow kHalvingRow{"halving", kHalvingCases};

}  // namespace ringlet::collective
