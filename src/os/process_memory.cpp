#include "os/process_memory.hpp"

#include <sys/uio.h>

namespace ringlet::os {

bool ReadMemoryOf(std::int32_t pid, std::uint64_t address, std::span<std::byte> to) {
  const iovec local{.iov_base = to.data(), .iov_len = to.size()};
  const iovec remote{.iov_base = reinterpret_cast<void*>(address), .iov_len = to.size()};
  const ssize_t bytes = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
  return bytes >= 0 && static_cast<std::size_t>(bytes) == to.size();
}

}  // namespace ringlet::os
