// Whether a process is the one in which an object was made.
#pragma once
#include <sys/types.h>

namespace ringlet::comm {

/// Remembers in which process it was made: the child of a fork has copies of our objects, but not
/// the threads that serve them, and must leave them alone.
class ForkGuard {
 public:
  ForkGuard();
  /// Whether this is still the process where the object was made. Cost  one system call.
  bool IsHere() const;

 private:
  pid_t pid_;
};

}  // namespace ringlet::comm
