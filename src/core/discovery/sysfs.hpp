// How discovery asks for files: small ones, by the path where they really are, and whatever is
// missed is remembered.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/fs/file_tree.hpp"
#include "topology/view/pci.hpp"

namespace ringlet::discovery {

/// The target of a link, as a path from the root and without looking at it: `target` as seen from
/// the folder of `link`, with "." and ".." taken out. "/sys/class/net/eth0" and
/// "../../devices/pci0000:00/0000:00:03.0/net/eth0" give
/// "/sys/devices/pci0000:00/0000:00:03.0/net/eth0".
std::string ResolveLink(std::string_view link, std::string_view target);

/// The addresses of the PCI functions that a path of /sys goes through, nearest to its end first.
/// Parts above the last host bridge ("pci0000:17") are not counted: a bridge of its own, such as
/// that of Intel's VMD, starts a new tree.
std::vector<topology::BusId> FunctionsIn(std::string_view path);

class Sysfs {
 public:
  /// \param files, missing  outlive the object
  Sysfs(const os::FileTree& files, std::vector<std::string>& missing)
      : files_(files), missing_(missing) {}

  /// Remembers a sentence. After kMissingMax of them, only that there were more.
  void Miss(std::string what);

  /// A small file, trimmed; empty where there is none.
  std::optional<std::string> Peek(const std::string& path) const;
  /// The same, but its absence is remembered.
  std::string Read(const std::string& path);
  /// A decimal number; empty where there is none, and for -1.
  std::optional<std::uint32_t> PeekNumber(const std::string& path) const;
  /// A number with 0x in front, up to `max`.
  std::optional<std::uint32_t> PeekHex(const std::string& path, std::uint32_t max) const;
  /// ResolveLink of the link at `path`; empty where there is none.
  std::optional<std::string> Linked(const std::string& path) const;
  /// The same, or `path` itself: in trees made by hand and some captured ones it is a folder.
  std::string Folder(const std::string& path) const { return Linked(path).value_or(path); }

  const os::FileTree& files() const { return files_; }

  static constexpr std::size_t kMissingMax = 200;
  static constexpr std::size_t kSmallFileBytesMax = 64 * 1024;

 private:
  const os::FileTree& files_;
  std::vector<std::string>& missing_;
};

}  // namespace ringlet::discovery
