// File access of discovery: reads small files by their resolved paths and records missing ones.
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

/// Returns the target of a link as a path from the root, without file access: `target` relative to
/// the folder of `link`, without "." and "..". "/sys/class/net/eth0" and
/// "../../devices/pci0000:00/0000:00:03.0/net/eth0" give
/// "/sys/devices/pci0000:00/0000:00:03.0/net/eth0".
std::string ResolveLink(std::string_view link, std::string_view target);

/// Returns the addresses of the PCI functions in a path of /sys, last one first. Ignores parts
/// above the last host bridge ("pci0000:17"), because bridges such as Intel's VMD start a new tree.
std::vector<topology::BusId> FunctionsIn(std::string_view path);

class Sysfs {
 public:
  /// \param files, missing  outlive the object
  Sysfs(const os::FileTree& files, std::vector<std::string>& missing)
      : files_(files), missing_(missing) {}

  /// Records a sentence. After kMissingMax of them, only that there were more.
  void RecordMissing(std::string what);

  /// Returns a small file, trimmed; empty if it is missing.
  std::optional<std::string> Peek(const std::string& path) const;
  /// As Peek, but records a missing file.
  std::string Read(const std::string& path);
  /// Returns a decimal number; empty if it is missing or -1.
  std::optional<std::uint32_t> PeekNumber(const std::string& path) const;
  /// Returns a number with prefix 0x, up to `max`.
  std::optional<std::uint32_t> PeekHex(const std::string& path, std::uint32_t max) const;
  /// Applies ResolveLink to the link at `path`; empty if it is missing.
  std::optional<std::string> Linked(const std::string& path) const;
  /// As Linked, or `path` itself: hand-made trees and some captured trees have a folder there.
  std::string Folder(const std::string& path) const { return Linked(path).value_or(path); }

  const os::FileTree& files() const { return files_; }

  static constexpr std::size_t kMissingMax = 200;
  static constexpr std::size_t kSmallFileBytesMax = 64 * 1024;

 private:
  const os::FileTree& files_;
  std::vector<std::string>& missing_;
};

}  // namespace ringlet::discovery
