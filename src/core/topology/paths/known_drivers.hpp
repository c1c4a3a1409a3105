// The behaviour of drivers for known GPU models, for hosts without a driver to query.
#pragma once
#include <functional>
#include <span>

#include "topology/graph/graph.hpp"

namespace ringlet::topology {

/// Returns a predicate for PathOptions::peer_access: the driver of GeForce cards grants access
/// between two GPUs of a host over NVLink only. Empty if the hosts lack such cards.
/// \param hosts  the hosts of `graph`; neither hosts nor graph need to outlive the call
/// Source  NCCL's log of 8 RTX 3090,
///         test/fixtures/topologies/statements/3090x8_panlichen.log27.rank4.txt: all its paths
///         between cards cross processors
std::function<bool(Rank, Rank)> KnownPeerAccess(std::span<const HostView> hosts,
                                                const Graph& graph);

}  // namespace ringlet::topology
