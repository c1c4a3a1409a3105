// The identity of this host, process and namespaces.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "os/fs/file_tree.hpp"

namespace ringlet::os {

struct Host {
  std::string name;
  std::string boot_id;  ///< the kernel draws it at each boot; empty if /proc does not contain it
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;  ///< effective
};

/// Never fails: unknown fields stay empty. `files` is the live machine's "/".
Host ReadHost(const FileTree& files);
/// Does the same with a known boot id.
Host HostOf(std::string boot_id);
std::string ReadBootId(const FileTree& files);

/// A number of this process's network namespace, unique on its host: the kernel's cookie (Linux
/// 5.14 and later), which takes a tenth of the time of reading /proc, or else the inode.
std::uint64_t NetNamespace(const FileTree& files);

/// Only the cookie, read from an open socket. Empty if the kernel lacks it.
std::optional<std::uint64_t> NamespaceCookie(int socket);

/// The inode in /proc. 0 if /proc does not contain it.
std::uint64_t NetNamespaceInode(const FileTree& files);

/// Start time of this process, in ticks since boot. Together with the pid it identifies a process
/// permanently, even after the pid is reused. 0 if /proc does not contain it.
std::uint64_t OwnStartTicks(const FileTree& files);

/// Field 22 of /proc/PID/stat. Field 2, the command's name, may contain spaces and brackets.
std::optional<std::uint64_t> ParseStartTicks(std::string_view stat);

/// The inode in "net:[4026531840]".
std::optional<std::uint64_t> ParseNamespaceInode(std::string_view link);

}  // namespace ringlet::os
