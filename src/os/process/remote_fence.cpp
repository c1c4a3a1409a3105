#include "os/process/remote_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ringlet::os {
namespace {

bool Membarrier(int command) {
  return ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

bool JoinRemoteFences() {
  static const bool joined = Membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
  return joined;
}

bool RemoteFence() {
  return Membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

}  // namespace ringlet::os
