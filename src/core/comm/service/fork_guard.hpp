// Detects that a process is a fork of the one that made an object.
#pragma once
#include <cstdint>

#include "os/process/forks.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

using os::PerProcess;

/// Remembers the process that made it. The child of a fork has copies of our objects but lacks the
/// threads that serve them, so it must not use them.
class ForkGuard {
 public:
  /// Returns true in the process that made the object. Cost  as os::ForkGeneration.
  bool IsHere() const { return generation_ == os::ForkGeneration(); }
  /// Errors  kInvalidArgument  this process is a child of that process
  Status Check() const {
    if (IsHere()) [[likely]]
      return Ok();
    return Error{Code::kInvalidArgument,
                 "the communicator was made before fork(), and this process is the child: it lacks "
                 "the threads that serve it; form one of its own here"};
  }

 private:
  std::uint64_t generation_ = os::ForkGeneration();
};

}  // namespace ringlet::comm
