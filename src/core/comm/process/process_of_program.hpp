// The processes behind the communicators of this program. The C API and the C++ API share them, so
// that a program that uses both has one service thread.
#pragma once
#include <cstddef>
#include <memory>

#include "base/settings/env_map.hpp"
#include "comm/process/process.hpp"

namespace ringlet::comm {

/// Each has a thread and descriptors of its own.
inline constexpr std::size_t kEnvironmentsMax = 16;

/// The process with this program's environment and `overrides`: made at the first call for these
/// overrides, made anew in the child of a fork, and kept until the program ends. Neither an id nor
/// a handle of C is an object that could hold it, so this is a global. Any thread. Errors
/// kInvalidArgument  a setting; kUnsupported  kEnvironmentsMax others are in use
///         kSystem  as Process::Start
Result<std::shared_ptr<Process>> ProcessOfProgram(const EnvMap& overrides = {});

/// The same for callers that only read settings and write to the log.
Result<std::shared_ptr<Process>> LookAtProcessOfProgram(const EnvMap& overrides);
/// Ends the process for these overrides if there were only looks at it. Any thread.
void EndUnused(const EnvMap& overrides);

}  // namespace ringlet::comm
