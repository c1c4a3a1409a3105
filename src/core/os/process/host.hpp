// Which host, process and namespaces this is.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "os/fs/file_tree.hpp"

namespace ringlet::os {

struct Host {
  std::string name;
  std::string boot_id;  ///< drawn by the kernel at each boot; empty where /proc does not tell
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;  ///< effective
};

/// Never fails: what cannot be found out stays empty. `files` is the live machine's "/".
Host ReadHost(const FileTree& files);
/// The same with a boot id that is known.
Host HostOf(std::string boot_id);
std::string ReadBootId(const FileTree& files);

/// The network namespace of this process, by a number that no other of its host has: the kernel's
/// cookie (Linux 5.14 and later), which takes a tenth of the time of looking into /proc, or the
/// inode.
std::uint64_t NetNamespace(const FileTree& files);

/// The cookie alone, of a socket that is open; empty where the kernel has none.
std::optional<std::uint64_t> NamespaceCookie(int socket);

/// The inode that /proc tells; 0 where it does not.
std::uint64_t NetNamespaceInode(const FileTree& files);

/// When this process started, in ticks since boot. With the pid it names a process for good, even
/// after the pid is used again. 0 where /proc does not tell.
std::uint64_t OwnStartTicks(const FileTree& files);

/// Field 22 of /proc/PID/stat. The second field, the command's name, may hold spaces and brackets.
std::optional<std::uint64_t> ParseStartTicks(std::string_view stat);

/// The inode in "net:[4026531840]".
std::optional<std::uint64_t> ParseNamespaceInode(std::string_view link);

}  // namespace ringlet::os
