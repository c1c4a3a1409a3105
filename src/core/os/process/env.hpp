// The environment, read once at the edge.
#pragma once
#include "base/settings/env_map.hpp"

namespace ringlet::os {

/// A copy of this process's environment; of a name that occurs twice, the first value counts, as
/// getenv would find it. Not while another thread changes the environment.
EnvMap ReadEnvironment();

}  // namespace ringlet::os
