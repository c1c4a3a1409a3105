// The lines of NCCL's log that describe how a communicator was formed. Users grep for them.
#pragma once
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "comm/machine/machine.hpp"

namespace ringlet::comm {

struct InitLine {
  std::string text;
  Subsystem subsystem = Subsystem::kInit;  ///< of NCCL_DEBUG_SUBSYS, as in NCCL
};

/// Returns the lines of one rank, in NCCL's order: ranks and nodes, the channels (on rank 0), its
/// place in rings and trees, the transports to its neighbours, and the number of channels.
/// \param communicator  its public number
std::vector<InitLine> InitLines(const GpuMachine& machine, const PeerTable& peer_table, Rank self,
                                std::uint64_t communicator);

}  // namespace ringlet::comm
