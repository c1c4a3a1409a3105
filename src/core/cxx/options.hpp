// Checks the options of a communicator.
#pragma once
#include "comm/process/config.hpp"
#include "ringlet/communicator.hpp"

namespace ringlet::cxx {

/// Checks the timeouts. comm::Establish checks rank, size and ids.
/// \param process  supplies the values that the options leave open
/// Errors  kInvalidArgument  names the timeout, its value and its bounds
Result<comm::Config> ConfigOf(const comm::Process& process, const UniqueId& id, Rank rank,
                              std::uint32_t size, const CommunicatorOptions& options);

}  // namespace ringlet::cxx
