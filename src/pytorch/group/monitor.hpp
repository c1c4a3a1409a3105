// A barrier that names missing ranks.
#pragma once
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "pytorch/group/presence.hpp"

namespace ringlet::torch_api {

/// A call of the barrier on one rank.
struct BarrierCall {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint64_t number = 0;  ///< number of earlier barriers of this group
  std::chrono::milliseconds timeout{};
  bool wait_for_all = false;  ///< name all missing ranks, not only the first
};

/// Returns when all ranks have called it. Each rank increments a counter in the store. It does not
/// use the communicator, so that rank 0 can name missing ranks if the communicator hangs. The last
/// rank ends the barrier; if one is missing, rank 0 ends it with an error. A rank that has ended or
/// left is named at once; with `wait_for_all`, rank 0 waits for the others first. The messages use
/// PyTorch's words, which its users search for.
///
/// Errors  kTimeout   names the missing ranks; or this rank's time was over before it began
///         kPeerLost  names the ranks that will not arrive, and why
///         kAborted; and the store's own
/// Cost  a few requests to the store per rank: for debugging, not for speed
Status RunMonitoredBarrier(KeyStore& store, Presence& presence, const BarrierCall& barrier_call,
                           const std::stop_token& abort);

}  // namespace ringlet::torch_api
