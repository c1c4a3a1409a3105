// The memory of another process of this host, read and written without its help.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/value/remote_address.hpp"
#include "base/wire/handshake.hpp"

namespace ringlet::os {

/// A process, and a unique value at an address of its memory that identifies it as long as it may
/// be read. The pid proves no identity: another process may have it in another PID namespace, or
/// after this one has ended. The kernel may also report the process that opened a socket instead of
/// its child that uses it.
struct KnownProcess {
  std::int32_t pid = 0;  ///< 0: no process; reads fail
  RemoteAddress sign_at = {};
  Secret sign = {};
};

/// Reads to.size() bytes at `address`, together with the sign, in one system call. Returns false if
/// some could not be read, or not from that process: it has ended or belongs to another user, the
/// address is not all its own, or the kernel forbids it (Yama, seccomp). `to` is then undefined.
bool ReadMemoryOf(const KnownProcess& process, RemoteAddress address, std::span<std::byte> to);

/// Writes `from` to `address`, after it has read the sign. Returns false if some bytes could not be
/// written or the sign is another: as ReadMemoryOf. The memory there is then undefined.
bool WriteMemoryOf(const KnownProcess& process, RemoteAddress address,
                   std::span<const std::byte> from);

/// Checks whether a process may read the memory of another process of this user that did not start
/// it, like ranks of a job. A child tries to read this process. Returns 0, or the errno.
int MemoryRefusal();

}  // namespace ringlet::os
