// Which process each rank of a host is, so that its memory can be read. A number that a rank tells
// is no proof: it could name another process of the same user, whose memory would then be read in
// its place. So each rank draws a nonce; each puts what only it is asked for, a hash of every nonce
// and of its own rank, into its memory and says where; and each reads its own there.
#pragma once
#include <chrono>
#include <cstdint>
#include <vector>

#include "comm/control.hpp"

namespace ringlet::comm {

/// The process of each rank whose memory this one can read; 0 for the others and this one. All
/// ranks call it; two all-gathers and a barrier.
/// Errors  those of the control network; kSystem  no random source
Result<std::vector<std::int32_t>> ProveProcesses(Control& control, Rank self,
                                                 std::chrono::milliseconds timeout);

}  // namespace ringlet::comm
