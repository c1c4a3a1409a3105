#include "plan/channels/p2p_channels.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace ringlet::plan {
namespace {

std::uint32_t WithinNode(std::optional<topology::Bandwidth> path, topology::Bandwidth nvlink) {
  if (!path || nvlink.mb_per_s == 0) return 2;
  return 2 * std::max(1u, path->mb_per_s / nvlink.mb_per_s);
}

std::uint32_t BetweenNodes(const P2pNodeClass& ground, const P2pLimits& limits) {
  if (limits.net_peer) return *limits.net_peer;
  if (ground.nics == 0) return 2;
  const std::uint32_t of_one = std::max(1u, limits.of_a_channel.mb_per_s);
  return std::max(ground.nics, (ground.nics_width.mb_per_s + of_one - 1) / of_one);
}

}  // namespace

P2pChannels CountP2pChannels(std::span<const P2pNodeClass> classes, std::uint32_t nodes,
                             std::uint32_t peers_max, std::uint32_t channels,
                             const P2pLimits& limits) {
  constexpr std::uint32_t kPeersOfAGroup = 8;
  std::uint32_t of_a_peer = std::numeric_limits<std::uint32_t>::max();
  for (const P2pNodeClass& ground : classes) {
    for (const auto& path : ground.paths)
      of_a_peer = std::min(of_a_peer, WithinNode(path, ground.nvlink));
    if (nodes > 1) of_a_peer = std::min(of_a_peer, BetweenNodes(ground, limits));
  }
  const std::uint32_t most = std::max(limits.min, limits.max);
  P2pChannels result;
  result.total = std::bit_ceil(std::clamp(channels, std::max(1u, limits.min), std::max(1u, most)));
  // A single rank lacks peers and gets one channel.
  if (of_a_peer == std::numeric_limits<std::uint32_t>::max()) of_a_peer = 1;
  result.of_a_peer = std::bit_ceil(std::clamp(of_a_peer, 1u, result.total));
  const std::uint32_t groups = (peers_max + kPeersOfAGroup - 1) / kPeersOfAGroup;
  while (nodes > 1 && result.of_a_peer > 1 && result.of_a_peer * groups > result.total)
    result.of_a_peer /= 2;
  return result;
}

}  // namespace ringlet::plan
