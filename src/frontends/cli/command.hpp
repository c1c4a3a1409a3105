// What the commands of the tool have in common.
#pragma once
#include <functional>
#include <string_view>

#include "base/settings/env_map.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// A command with its options read: does the work and gives the exit status of the tool.
using Action = std::function<int()>;

inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;  ///< the command line or the environment makes no sense

/// Says on standard error what went wrong in `command` ("bench") and gives the exit status for it.
int Fail(std::string_view command, const Error& error);

/// One line for the user on standard error: "ringlet bench: text".
void Tell(std::string_view command, std::string_view text);

/// `environment` with the log on standard error, unless it says where the log goes: the tool's
/// standard output is for results.
EnvMap WithLogOnErrors(EnvMap environment);

}  // namespace ringlet::cli
