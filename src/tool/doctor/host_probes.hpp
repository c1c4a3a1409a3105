// The facts of this host: what each probe of `ringlet doctor` finds here.
#pragma once
#include "base/settings/env_map.hpp"
#include "doctor/facts.hpp"

namespace ringlet::cli {

/// All but the endpoints, and what comes from a comparison with others. Never fails: what cannot be
/// found out stays as it is in a new HostFacts.
/// Cost  some 100 system calls, a look at /sys and the resolver: up to seconds where a name server
/// does not answer
doctor::HostFacts ProbeHost(const EnvMap& environment);

}  // namespace ringlet::cli
