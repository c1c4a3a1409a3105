// Builds the request for transport::Connect to make the links of a communicator.
#pragma once
#include <vector>

#include "comm/control/control.hpp"
#include "comm/peers/peer_table.hpp"
#include "comm/process/config.hpp"
#include "transport/wireup/connect.hpp"

namespace ringlet::comm {

/// Pure. Returns the host, process and socket of `rank`: all that decides which kind of link
/// reaches it. \pre  `peer_table` has the peer info of `rank`
transport::Neighbour PlaceOfNeighbour(Rank rank, const PeerTable& peer_table);
/// Returns the same with the data to connect to it. \pre  as above
transport::Neighbour NeighbourOf(Rank rank, const PeerTable& peer_table,
                                 const bootstrap::Roster& roster);

/// Pure. Returns the capacity of memory links. Links that are larger than a core's cache are faster
/// (see ArenaShape::stages). Among many ranks of a host, they would take too much memory.
/// \param wanted  Settings::pipe_bytes; only the default is raised
inline std::uint64_t PipeBytesFor(std::uint64_t wanted, std::uint32_t ranks_on_host) {
  if (wanted != Settings().pipe_bytes || ranks_on_host > 8) return wanted;
  return wanted * (ranks_on_host > 4 ? 4 : 8);
}

/// Returns the request for links to `peers`.
/// \param deadline  of connecting
/// Errors  kSystem  no random source
Result<transport::ConnectRequest> RequestFor(const Origin& origin, const std::vector<Rank>& peers,
                                             const PeerTable& peer_table, const Control& control,
                                             Instant deadline);

/// \return  without an `abort`
transport::ConnectTools ToolsOf(Process& process);

}  // namespace ringlet::comm
