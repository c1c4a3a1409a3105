#include "plan/channels/p2p_schedule.hpp"

#include <bit>
#include <numeric>

#include "topology/paths/locality.hpp"

namespace ringlet::plan {
namespace {

constexpr std::uint32_t kGroupMax = 8;

/// The sequence 0, 1, 3, 6, 10, ... modulo a power of two contains every number below it once.
std::vector<std::uint32_t> Distances(std::uint32_t groups) {
  const std::uint32_t size = std::bit_ceil(groups);
  std::vector<std::uint32_t> distances;
  for (std::uint32_t step = 0, distance = 0; step < size; ++step) {
    distance = (distance + step) % size;
    if (distance < groups) distances.push_back(distance);
  }
  return distances;
}

}  // namespace

P2pSchedule::P2pSchedule(std::span<const std::uint32_t> node_ranks, const P2pChannels& channels)
    : channels_(channels), one_node_(node_ranks.size() <= 1) {
  std::uint32_t ranks = 0;
  group_size_ = one_node_ ? 0 : kGroupMax;
  for (const std::uint32_t count : node_ranks) {
    ranks += count;
    group_size_ = std::gcd(group_size_, count);
  }
  if (group_size_ == 0) group_size_ = 1;
  distances_ = Distances(ranks / group_size_);
}

P2pRound P2pSchedule::At(std::uint32_t round, Rank rank) const {
  const std::uint32_t local_distance = round % group_size_;
  const std::uint32_t distance = distances_[round / group_size_];
  const std::uint32_t group = Index(rank) / group_size_, local = Index(rank) % group_size_;
  const auto at = [&](std::uint32_t other_group, std::uint32_t other_local) {
    return Rank{other_group % groups() * group_size_ + other_local % group_size_};
  };
  P2pRound found;
  found.to = at(group + distance, local + local_distance);
  found.from = at(group + groups() - distance, local + group_size_ - local_distance);
  // On several nodes, the messages from one group to another share channels.
  found.first_channel = one_node_ ? topology::ReverseBits(round % channels_.total, channels_.total)
                                  : distance % channels_.total;
  return found;
}

}  // namespace ringlet::plan
