// The process of `ringlet doctor` on each host. It collects facts, answers probes and runs probes
// on command of a doctor on another host.
#pragma once
#include "base/settings/env_map.hpp"
#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// Serves until a command ends it, the connection closes, or kAgentIdle passes without a command.
/// \param in, out  a connection to the doctor; the caller keeps ownership
/// Errors  kTimeout, kProtocol, kSystem
Status ServeDoctor(int in, int out, const EnvMap& environment);

}  // namespace ringlet::cli
