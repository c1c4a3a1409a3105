// Forms communicators. establish.cpp shows the architecture of Ringlet: one line per stage.
#pragma once
#include <functional>
#include <memory>
#include <stop_token>

#include "comm/establish/timeline.hpp"
#include "comm/process/process.hpp"
#include "comm/run/communicator.hpp"
#include "os/net/listener.hpp"
#include "ringlet/unique_id.hpp"

namespace ringlet::comm {

/// Makes the id of a communicator and starts its root in this process. With RINGLET_COMM_ID (or
/// NCCL_COMM_ID) the id names that fixed address, and rank 0 starts the root when it joins.
/// Cost  one listener per address family until the communicator is formed.
/// \param parent_size  0, or the size of the communicator that the id grows
/// Errors  kUnsupported  growth at a fixed address, where the next id would be the same
Result<UniqueId> CreateUniqueId(const std::shared_ptr<Process>& process,
                                std::uint32_t parent_size = 0);

/// Returns the id of a program's next ncclGetUniqueId. It is new. Under `ringlet run`
/// (RINGLET_UNIQUE_ID and RINGLET_WORLD_SIZE are set), a process's first id contains the name of
/// the job: a communicator of all ranks then meets at RINGLET_UNIQUE_ID even if each rank made its
/// own id (UseIdOfJob). With RINGLET_UNIQUE_ID alone, the first id is that one. RINGLET_COMM_ID
/// overrides all of this.
/// Errors  kInvalidArgument  RINGLET_UNIQUE_ID does not parse
Result<UniqueId> NextUniqueId(const std::shared_ptr<Process>& process);

/// Parts that a front end adds to the forming of a communicator. Each may be missing.
struct Preparation {
  /// The node leader's address, which this rank took before other ranks knew the id
  /// (BecomeNodeLeader).
  std::shared_ptr<os::Listener> node_leader = {};
  /// The memory of all ranks, which this rank made before it knew the id (MakeHostMemory).
  std::shared_ptr<transport::Arena> memory = {};
  /// Called on the caller's thread once all ranks have joined. No rank needs the ids any more.
  std::function<void()> on_joined = {};
};

/// Forms the communicator together with all other ranks of `config.id`. Blocks until all are
/// connected, one of them fails, or the time limit expires. `abort` ends it early.
/// Errors  kInvalidArgument  rank, size, id, settings that differ, a rank given twice
///         kTimeout   names the missing ranks   kPeerLost  names the lost ranks
///         kAborted   names the aborting rank   kProtocol  names the incompatible rank
Result<std::unique_ptr<Communicator>> Establish(const std::shared_ptr<Process>& process,
                                                const Config& config, const std::stop_token& abort,
                                                Preparation prepared = {});

/// Makes a communicator of the ranks that `control` joins, all of them ranks of `parent`. Blocks as
/// Establish does. split.hpp calls it. Errors name ranks by their numbers in `parent`.
Result<std::unique_ptr<Communicator>> EstablishChild(const Communicator& parent,
                                                     std::unique_ptr<Control> control,
                                                     Timeline timeline,
                                                     const std::stop_token& abort);

}  // namespace ringlet::comm
