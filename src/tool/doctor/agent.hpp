// The process of `ringlet doctor` on each host: it looks, answers probes and makes them, as a
// doctor elsewhere says.
#pragma once
#include "base/settings/env_map.hpp"
#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// Serves until it is told to end, the doctor is gone, or nothing comes for kAgentIdle.
/// \param in, out  a connection to the doctor; they stay the caller's
/// Errors  kTimeout, kProtocol, kSystem
Status ServeDoctor(int in, int out, const EnvMap& environment);

}  // namespace ringlet::cli
