#include "comm/process/fork_guard.hpp"

#include <unistd.h>

namespace ringlet::comm {

ForkGuard::ForkGuard() : pid_(::getpid()) {}

bool ForkGuard::IsHere() const {
  return pid_ == ::getpid();
}

}  // namespace ringlet::comm
