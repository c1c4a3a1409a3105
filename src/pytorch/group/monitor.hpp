// The barrier that says who is missing.
#pragma once
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "pytorch/group/presence.hpp"

namespace ringlet::torch_api {

/// One call of it on one rank.
struct Muster {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint64_t number = 0;  ///< how many this group has had before
  std::chrono::milliseconds timeout{};
  bool wait_for_all = false;  ///< name all who are missing, not only the first
};

/// Returns when all ranks have called it. Rank 0 waits for the others through the store, not the
/// communicator, so that it can say who is missing when the communicator hangs; the others wait for
/// what rank 0 says. A rank that has ended or left is named at once; where all missing ranks are
/// asked for, rank 0 waits for the others first. In PyTorch's words, which its users look for.
/// Errors  kTimeout   names who did not come; or this rank's time was over before it began
///         kPeerLost  names who will not come, and why
///         kAborted; and the store's own
/// Cost  a few requests to the store for each rank: for looking into trouble, not for speed.
Status HoldMuster(KeyStore& store, Presence& presence, const Muster& muster,
                  const std::stop_token& abort);

}  // namespace ringlet::torch_api
