// Whether a process is the one in which an object was made.
#pragma once
#include <cstdint>

#include "os/process/forks.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

using os::PerProcess;

/// Remembers in which process it was made: the child of a fork has copies of our objects, but not
/// the threads that serve them, and must leave them alone.
class ForkGuard {
 public:
  /// Whether this is still the process where the object was made. Cost  as of os::ForkGeneration.
  bool IsHere() const { return generation_ == os::ForkGeneration(); }
  /// Errors  kInvalidArgument  it is a child of that process
  Status Check() const {
    if (IsHere()) [[likely]]
      return Ok();
    return Error{Code::kInvalidArgument,
                 "the communicator was made before fork(), and this process is the child: it has "
                 "no threads that serve it; form one of its own here"};
  }

 private:
  std::uint64_t generation_ = os::ForkGeneration();
};

}  // namespace ringlet::comm
