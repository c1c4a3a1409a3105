// Files below a root directory: the live machine's "/", or a captured tree.
//
// A path resolves as in a process with that root: absolute symbolic links start at the root, and
// ".." cannot leave it. So a captured /sys never shows the machine that examines it.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

class FileTree {
 public:
  static constexpr std::size_t kFileBytesMax = std::size_t{4} << 20;  // /proc/cpuinfo of 1024 CPUs
  static constexpr std::size_t kEntriesMax = 65'536;                  // per directory

  enum class Resolver : unsigned char {
    kBest,  ///< openat2 if the kernel has it (5.6), else our own walk
    kWalk,  ///< our own walk: for tests, and for sandboxes that refuse openat2
  };

  /// A request to a tree, successful or not.
  struct PathAccess {
    enum class Kind : std::uint8_t { kRead, kList, kReadLink, kExists };
    Kind kind = Kind::kRead;
    std::string_view path;  ///< as given
  };
  using Watcher = std::function<void(const PathAccess&)>;

  /// Errors  kSystem  `root` is not a readable directory; the message names it.
  static Result<FileTree> Open(std::string root, Resolver resolver = Resolver::kBest);

  /// The file's content. Paths start at the root, with or without a leading slash.
  /// Errors  kSystem       the message names the file and the reason
  ///         kUnsupported  the file has more than `bytes_max` bytes
  Result<std::string> Read(std::string_view path, std::size_t bytes_max = kFileBytesMax) const;

  /// Names in a directory, sorted, without "." and "..".
  /// Errors  kSystem  as Read; kUnsupported  more than `entries_max` entries
  Result<std::vector<std::string>> List(std::string_view path,
                                        std::size_t entries_max = kEntriesMax) const;

  /// The text of a symbolic link, unresolved.
  Result<std::string> ReadLink(std::string_view path) const;

  /// True if the path exists and can be reached. False for a dangling link.
  bool Exists(std::string_view path) const;

  const std::string& root() const { return root_; }

  /// Number of opens that failed because descriptors or memory ran out, so results may be
  /// incomplete. Any thread.
  std::uint64_t shortages() const { return *shortages_; }

  /// Calls `watcher` before every later request, on the requesting thread.
  void set_watcher(Watcher watcher) { watcher_ = std::move(watcher); }

 private:
  FileTree(Fd fd, std::string root, Resolver resolver)
      : fd_(std::move(fd)), root_(std::move(root)), resolver_(resolver) {}
  Result<Fd> OpenAt(std::string_view path, int flags) const;
  std::string Shown(std::string_view path) const;
  void NotifyWatcher(PathAccess::Kind kind, std::string_view path) const;

  Fd fd_;
  std::string root_;
  Resolver resolver_;
  Watcher watcher_ = {};
  std::shared_ptr<std::atomic<std::uint64_t>> shortages_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace ringlet::os
