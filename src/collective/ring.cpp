#include "collective/ring.hpp"

#include <algorithm>

#include "ringlet/status.hpp"

namespace ringlet::collective {

Range EvenChunk(std::size_t count, std::size_t chunks, std::size_t index) {
  const std::size_t quotient = count / chunks;
  const std::size_t remainder = count % chunks;
  return {.begin = index * quotient + std::min(index, remainder),
          .count = quotient + (index < remainder ? 1 : 0)};
}

Schedule RingAllReduce(std::span<const Rank> order, Rank self, std::size_t count,
                       std::uint16_t channel) {
  const auto found = std::find(order.begin(), order.end(), self);
  RINGLET_ASSERT(found != order.end());
  const std::size_t ranks = order.size();
  const auto place = static_cast<std::size_t>(found - order.begin());
  const Rank next = order[(place + 1) % ranks];
  const Rank previous = order[(place + ranks - 1) % ranks];

  Schedule schedule{.count = count, .steps = {}};
  const auto add = [&](StepKind kind, Rank peer, std::size_t chunk, bool finishes) {
    const Range range = EvenChunk(count, ranks, chunk % ranks);
    if (range.count == 0) return;
    schedule.steps.push_back(
        {.kind = kind, .channel = channel, .peer = peer, .range = range, .finishes = finishes});
  };
  // A chunk moves on by one place a round: what arrives now is what leaves in the next round.
  for (std::size_t round = 0; round + 1 < ranks; ++round) {
    const std::size_t chunk = place + ranks - round;
    const bool finishes = round + 2 == ranks;
    add(StepKind::kSend, next, chunk, false);
    add(StepKind::kReceiveSum, previous, chunk - 1, finishes);
  }
  for (std::size_t round = 0; round + 1 < ranks; ++round) {
    const std::size_t chunk = place + 1 + ranks - round;
    add(StepKind::kSend, next, chunk, false);
    add(StepKind::kReceive, previous, chunk - 1, false);
  }
  return schedule;
}

}  // namespace ringlet::collective
