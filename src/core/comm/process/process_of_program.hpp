// The processes behind the communicators of this program. The C API and the C++ API share them, so
// that a program that uses both has one service thread.
#pragma once
#include <cstddef>
#include <memory>

#include "base/settings/env_map.hpp"
#include "comm/process/process.hpp"

namespace ringlet::comm {

/// Each has its own thread and descriptors.
inline constexpr std::size_t kEnvironmentsMax = 16;

/// Returns the process with this program's environment and `overrides`. Made at the first call for
/// these overrides, made anew in the child of a fork, and kept until the program ends. A global,
/// because neither an id nor a handle of C can hold it. Any thread.
/// Errors  kInvalidArgument  a setting; kUnsupported  kEnvironmentsMax others are in use
///         kSystem  as Process::Start
Result<std::shared_ptr<Process>> ProcessOfProgram(const EnvMap& overrides = {});

/// Returns the process for callers that only read settings and write to the log.
Result<std::shared_ptr<Process>> ProcessOfProgramForSettings(const EnvMap& overrides);
/// Ends the process for these overrides if only ProcessOfProgramForSettings has used it. Any
/// thread.
void EndIfUnused(const EnvMap& overrides);

}  // namespace ringlet::comm
