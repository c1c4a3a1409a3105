// How a communicator comes to be. establish.cpp is the architecture of Ringlet: a line a stage.
#pragma once
#include <memory>
#include <stop_token>

#include "comm/process/process.hpp"
#include "comm/run/communicator.hpp"
#include "ringlet/unique_id.hpp"

namespace ringlet::comm {

/// Makes the id of a communicator and starts its root in this process. With RINGLET_COMM_ID (or
/// NCCL_COMM_ID) the id names that fixed address, and rank 0 starts the root when it joins.
/// Cost  one listener per address family until the communicator is formed.
/// \param parent_size  0, or the size of the communicator that the id grows
/// Errors  kUnsupported  growth at a fixed address, where the next id would be the same
Result<UniqueId> CreateUniqueId(const std::shared_ptr<Process>& process,
                                std::uint32_t parent_size = 0);

/// The settings of a program's next ncclGetUniqueId: RINGLET_UNIQUE_ID, which `ringlet run` sets,
/// the first time in a process, so that ranks that each ask for an id meet; a new one afterwards,
/// and where RINGLET_COMM_ID is set. Errors kInvalidArgument RINGLET_UNIQUE_ID is no id
Result<UniqueId> NextUniqueId(const std::shared_ptr<Process>& process);

/// Has the rank beside the root speak for its host, if it is called before others know `config.id`:
/// they then reach both by one connection. Elsewhere the first rank of a host that comes does.
void LeadHost(const Process& process, Config& config);

/// Forms the communicator together with all other ranks of `config.id`. Blocks until all are
/// connected, one of them fails, or the time is over; `abort` ends it early.
/// Errors  kInvalidArgument  rank, size, id, settings that differ, a rank given twice
///         kTimeout  names who is missing        kPeerLost  names who was lost
///         kAborted  names who aborted           kProtocol  who does not fit
Result<std::unique_ptr<Communicator>> Establish(const std::shared_ptr<Process>& process,
                                                const Config& config, const std::stop_token& abort);

/// Makes a communicator of the ranks that `control` joins, all of them ranks of `parent`. Blocks as
/// Establish does. See family.hpp for what calls it. Errors name ranks by their numbers in
/// `parent`.
Result<std::unique_ptr<Communicator>> EstablishChild(const Communicator& parent,
                                                     std::unique_ptr<Control> control,
                                                     const std::stop_token& abort);

}  // namespace ringlet::comm
