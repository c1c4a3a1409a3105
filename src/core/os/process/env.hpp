// The environment, read once at the edge.
#pragma once
#include "base/settings/env_map.hpp"

namespace ringlet::os {

/// A copy of this process's environment. The first value of a repeated name counts, as in getenv.
/// Must not run while another thread changes the environment.
EnvMap ReadEnvironment();

}  // namespace ringlet::os
