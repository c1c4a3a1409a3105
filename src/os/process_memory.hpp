// The memory of another process of this host, read without its help.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace ringlet::os {

/// Reads to.size() bytes at `address` of process `pid`, in one system call.
/// False: not all of them could be. The process is gone or of another user, the address is not all
/// its own, or the kernel forbids it (Yama, seccomp). `to` may then hold a part.
bool ReadMemoryOf(std::int32_t pid, std::uint64_t address, std::span<std::byte> to);

}  // namespace ringlet::os
