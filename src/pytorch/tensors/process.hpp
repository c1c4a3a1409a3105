// The process object that all groups of this program share.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "comm/control/beacon.hpp"
#include "comm/process/process.hpp"
#include "comm/service/fork_guard.hpp"

namespace ringlet::torch_api {

/// Returns the process object behind all groups. The first group creates it, the last one destroys
/// it, and a child of fork creates a new one. It is global, because no object of PyTorch could own
/// it.
Result<std::shared_ptr<comm::Process>> SharedProcess();

/// Returns the beacon of this process, which has the same lifetime as SharedProcess.
/// Errors  as comm::Beacon::Start
Result<std::shared_ptr<comm::Beacon>> SharedBeacon();

/// Returns a random number of this process. A child of fork has another one.
/// Errors  as SharedProcess
Result<std::uint64_t> ProcessNumber();

/// True if the process with this beacon has certainly ended. Waits at most 200 ms for an answer,
/// and keeps the connection for further calls with the same beacon.
bool HasEnded(const Address& beacon);

/// Returns the first address of this host at which a Ringlet group listens, as text without a port.
/// Errors  kInvalidArgument  RINGLET_SOCKET_IFNAME or its family excludes all addresses
Result<std::string> ReachableAddress();

}  // namespace ringlet::torch_api
