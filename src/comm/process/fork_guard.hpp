// Whether a process is the one in which an object was made.
#pragma once
#include <cstdint>

#include "os/process/forks.hpp"

namespace ringlet::comm {

/// Remembers in which process it was made: the child of a fork has copies of our objects, but not
/// the threads that serve them, and must leave them alone.
class ForkGuard {
 public:
  /// Whether this is still the process where the object was made. Cost  as of os::ForkGeneration.
  bool IsHere() const { return generation_ == os::ForkGeneration(); }

 private:
  std::uint64_t generation_ = os::ForkGeneration();
};

}  // namespace ringlet::comm
