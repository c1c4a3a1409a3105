// The drivers of GPUs whose models are known, where no driver is there to be asked.
#pragma once
#include <functional>
#include <span>

#include "topology/graph/graph.hpp"

namespace ringlet::topology {

/// Whether the driver lets two GPUs of one host access each other, for PathOptions::peer_access:
/// that of GeForce cards does so over NVLink alone. Empty: nothing is known against it.
/// \param hosts  that `graph` was built from; need not outlive the call, nor need the graph
/// Source  NCCL's log of 8 RTX 3090, test/fixtures/topologies/statements/3090x8_panlichen.log27.
///         rank4.txt: all its paths between cards lead through processors
std::function<bool(Rank, Rank)> KnownPeerAccess(std::span<const HostView> hosts,
                                                const Graph& graph);

}  // namespace ringlet::topology
