#include "os/process/remote_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace ringlet::os {
namespace {

bool Membarrier(int command) {
  return ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

std::atomic<bool> has_joined{false};

}  // namespace

bool JoinRemoteFences() {
  static const bool joined = [] {
    has_joined = Membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
    return has_joined.load();
  }();
  return joined;
}

bool HasJoinedRemoteFences() {
  return has_joined.load(std::memory_order_acquire);
}

bool RemoteFence() {
  return Membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

}  // namespace ringlet::os
