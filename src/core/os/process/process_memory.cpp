#include "os/process/process_memory.hpp"

#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace ringlet::os {

bool ReadMemoryOf(const KnownProcess& process, RemoteAddress address, std::span<std::byte> to) {
  if (process.pid == 0) return false;
  Secret sign{};
  const auto there = [](RemoteAddress at, std::size_t bytes) {
    return iovec{.iov_base = reinterpret_cast<void*>(at.told()), .iov_len = bytes};
  };
  const std::array<iovec, 2> local = {iovec{.iov_base = to.data(), .iov_len = to.size()},
                                      iovec{.iov_base = sign.data(), .iov_len = sign.size()}};
  // The order matters: a sign read after the data proves that the data is from the same process.
  const std::array<iovec, 2> remote = {there(address, to.size()),
                                       there(process.sign_at, sign.size())};
  const ssize_t bytes =
      ::process_vm_readv(process.pid, local.data(), local.size(), remote.data(), remote.size(), 0);
  return bytes >= 0 && static_cast<std::size_t>(bytes) == to.size() + sign.size() &&
         sign == process.sign;
}

bool WriteMemoryOf(const KnownProcess& process, RemoteAddress address,
                   std::span<const std::byte> from) {
  std::byte last{};
  if (from.empty() || !ReadMemoryOf(process, address + from.size() - 1, {&last, 1})) return false;
  const iovec local{.iov_base = const_cast<std::byte*>(from.data()), .iov_len = from.size()};
  const iovec remote{.iov_base = reinterpret_cast<void*>(address.told()), .iov_len = from.size()};
  const ssize_t bytes = ::process_vm_writev(process.pid, &local, 1, &remote, 1, 0);
  return bytes >= 0 && static_cast<std::size_t>(bytes) == from.size();
}

int MemoryRefusal() {
  // An address of this process, which is also valid in a forked child.
  static const std::array<char, 8> here = {};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) {  // only system calls, because other threads may hold locks
    std::array<char, 8> copy;
    const iovec local{.iov_base = copy.data(), .iov_len = copy.size()};
    const iovec remote{.iov_base = const_cast<char*>(here.data()), .iov_len = here.size()};
    const ssize_t got = ::process_vm_readv(parent, &local, 1, &remote, 1, 0);
    ::_exit(got == static_cast<ssize_t>(copy.size()) ? 0 : errno);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

}  // namespace ringlet::os
