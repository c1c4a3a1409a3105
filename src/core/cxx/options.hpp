// The options of a communicator, checked.
#pragma once
#include "comm/process/config.hpp"
#include "ringlet/communicator.hpp"

namespace ringlet::cxx {

/// \param process  gives what the options leave open
/// Rank, size and ids are checked by comm::Establish.
/// Errors  kInvalidArgument  names the timeout, its value and its bounds
Result<comm::Config> ConfigOf(const comm::Process& process, const UniqueId& id, Rank rank,
                              std::uint32_t size, const CommunicatorOptions& options);

}  // namespace ringlet::cxx
