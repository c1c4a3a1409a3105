#include "os/process/process_memory.hpp"

#include <sys/uio.h>

#include <array>

namespace ringlet::os {

bool ReadMemoryOf(const KnownProcess& process, RemoteAddress address, std::span<std::byte> to) {
  if (process.pid == 0) return false;
  Secret sign{};
  const auto there = [](RemoteAddress at, std::size_t bytes) {
    return iovec{.iov_base = reinterpret_cast<void*>(at.told()), .iov_len = bytes};
  };
  const std::array<iovec, 2> local = {iovec{.iov_base = to.data(), .iov_len = to.size()},
                                      iovec{.iov_base = sign.data(), .iov_len = sign.size()}};
  // In this order: as long as the sign was there after the data, so was the process that let them
  // be read.
  const std::array<iovec, 2> remote = {there(address, to.size()),
                                       there(process.sign_at, sign.size())};
  const ssize_t bytes =
      ::process_vm_readv(process.pid, local.data(), local.size(), remote.data(), remote.size(), 0);
  return bytes >= 0 && static_cast<std::size_t>(bytes) == to.size() + sign.size() &&
         sign == process.sign;
}

}  // namespace ringlet::os
