// The process that all groups of this program share.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "comm/control/beacon.hpp"
#include "comm/process/process.hpp"
#include "comm/service/fork_guard.hpp"

namespace ringlet::torch_api {

/// The process behind all groups: made with the first of them, gone with the last, made anew in the
/// child of a fork. PyTorch has no object that could hold it, so this is a global, as in the C API.
Result<std::shared_ptr<comm::Process>> SharedProcess();

/// The beacon of this process, made and gone as the process behind all groups is.
/// Errors  as comm::Beacon::Light
Result<std::shared_ptr<comm::Beacon>> SharedBeacon();

/// A random number of this process. The child of a fork has another one.
/// Errors  as SharedProcess
Result<std::uint64_t> ProcessNumber();

/// Whether it is certain that the process with this beacon has ended. Waits for an answer for
/// 200 ms at most, and keeps the connection: further calls for the same beacon make no other one.
bool HasEnded(const Address& beacon);

/// The address of this host that a Ringlet group would listen at first, as text without a port.
/// Errors  kInvalidArgument  RINGLET_SOCKET_IFNAME or its family lets no address pass
Result<std::string> ReachableAddress();

}  // namespace ringlet::torch_api
