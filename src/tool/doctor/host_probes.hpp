// Collects the facts of this host for `ringlet doctor`.
#pragma once
#include "base/settings/env_map.hpp"
#include "doctor/facts.hpp"

namespace ringlet::cli {

/// Returns all facts except the endpoints and those that need a comparison with other hosts. Never
/// fails: a fact that cannot be read keeps its default in HostFacts.
/// Cost  about 100 system calls, reads of /sys, and the resolver, which takes up to seconds if a
///       name server does not answer
doctor::HostFacts ProbeHost(const EnvMap& environment);

}  // namespace ringlet::cli
