#include "os/process/env.hpp"

#include <unistd.h>

#include <string_view>

namespace ringlet::os {

EnvMap ReadEnvironment() {
  EnvMap env;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    env.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return env;
}

}  // namespace ringlet::os
