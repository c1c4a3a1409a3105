// Checks requests, and builds the messages of an all_to_all_v. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "collective/exec/messages.hpp"
#include "comm/run/work.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

// Errors of all  kInvalidArgument  invalid for this number of ranks; states the reason
Status CheckPortions(const AllToAllVCall& call, std::uint32_t ranks);
Status CheckTransfer(const Transfer& transfer, std::uint32_t ranks);
/// \param peer  the rank that raises the signal, or that receives it
Status CheckSignal(Rank peer, const Signal& signal, std::uint32_t ranks);
Status CheckWait(const SignalWait& wait, std::uint32_t ranks);

/// Returns a message to and one from each rank, nearest ranks first.
/// \pre  CheckPortions \param sequence  collectives before this one
std::vector<collective::Message> MessagesOf(const AllToAllVCall& call, collective::CallPlace place,
                                            std::uint64_t sequence);

}  // namespace ringlet::comm
