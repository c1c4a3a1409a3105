// The processes behind the communicators of this program: one for each environment that is asked
// for, shared by all its ranks here.
#pragma once
#include <memory>

#include "base/settings/env_map.hpp"
#include "comm/process/process.hpp"
#include "comm/service/fork_guard.hpp"

namespace ringlet::cxx {

/// Each has a thread and descriptors of its own, and lives as long as the program.
inline constexpr std::size_t kEnvironmentsMax = 16;

/// The process with this program's environment and `overrides`: made at the first call, made anew
/// in the child of a fork. An id has no object that could hold it, so this is a global, as in the
/// C API. Any thread.
/// Errors  kInvalidArgument  a setting; kUnsupported  kEnvironmentsMax others are in use
///         kSystem  as comm::Process::Start
Result<std::shared_ptr<comm::Process>> ProcessWith(const EnvMap& overrides);

}  // namespace ringlet::cxx
