// The memory of another process of this host, read without its help.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/value/remote_address.hpp"
#include "base/wire/handshake.hpp"

namespace ringlet::os {

/// A process, and how to know it: by what it alone has at a place of its memory for as long as it
/// may be read. Its number proves nothing. The same number is another process's in another PID
/// namespace, or once this one has ended; and the kernel may name the process that opened a socket
/// in the place of its child, which uses it.
struct KnownProcess {
  std::int32_t pid = 0;  ///< 0: none, from which nothing is read
  RemoteAddress sign_at = {};
  Secret sign = {};
};

/// Reads to.size() bytes at `address`, in one system call together with the sign.
/// False: not all of them could be read, or not from that process. It is gone or of another user,
/// the address is not all its own, or the kernel forbids it (Yama, seccomp). `to` may then hold
/// anything.
bool ReadMemoryOf(const KnownProcess& process, RemoteAddress address, std::span<std::byte> to);

/// Whether a process may read the memory of another one of this user that did not start it, as
/// ranks of a job are to each other: tried by a child that reads here. 0, or the errno of the
/// refusal.
int MemoryRefusal();

}  // namespace ringlet::os
