#include "os/fs/file_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

#include "base/value/text.hpp"
#include "os/fs/rooted_walk.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kPathShownBytesMax = 512;

Error Failed(std::string_view what, const std::string& path, int error) {
  return {Code::kSystem, fmt::format("cannot {} {}: {}", what, path, std::strerror(error)), error};
}

/// Calls openat2 with the directory as root. On failure the result is invalid and errno is set.
Fd OpenInRoot(int root, const std::string& path, int flags) {
  struct open_how how {};
  how.flags = static_cast<unsigned>(flags) | static_cast<unsigned>(O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT;
  constexpr int kTriesMax = 16;  // EAGAIN: the tree changed during the call
  for (int i = 0; i < kTriesMax; ++i) {
    const long fd = syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return Fd();
}

/// Reads to the end, or one byte more than `bytes_max`. Returns -1 and sets errno on failure.
ssize_t ReadAll(int fd, std::size_t bytes_max, std::string& out) {
  std::array<char, 4096> buffer;  // small: a new page of the stack costs a fault
  while (out.size() <= bytes_max) {
    const std::size_t want = std::min(buffer.size(), bytes_max + 1 - out.size());
    const ssize_t got = read(fd, buffer.data(), want);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return static_cast<ssize_t>(out.size());
}

}  // namespace

Result<FileTree> FileTree::Open(std::string root, Resolver resolver) {
  Fd fd(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return Failed("open the directory", Printable(root, kPathShownBytesMax), errno);
  return FileTree(std::move(fd), std::move(root), resolver);
}

std::string FileTree::Shown(std::string_view path) const {
  while (path.starts_with('/')) path.remove_prefix(1);
  const std::string slash = root_.ends_with('/') ? "" : "/";
  return Printable(fmt::format("{}{}{}", root_, slash, path), kPathShownBytesMax);
}

Result<Fd> FileTree::OpenAt(std::string_view path, int flags) const {
  Fd fd;
  int error = ENOSYS;
  if (resolver_ == Resolver::kBest) {
    fd = OpenInRoot(fd_.get(), path.empty() ? "/" : std::string(path), flags);
    error = fd.valid() ? 0 : errno;
  }
  // Kernels before 5.6 return ENOSYS, sandboxes EPERM. Neither concerns the file itself.
  if (!fd.valid() && (error == ENOSYS || error == EPERM)) {
    fd = OpenByWalk(fd_.get(), path, flags);
    error = fd.valid() ? 0 : errno;
  }
  if (error == EMFILE || error == ENFILE || error == ENOMEM) ++*shortages_;
  if (!fd.valid()) return Failed("open", Shown(path), error);
  return fd;
}

void FileTree::NotifyWatcher(PathAccess::Kind kind, std::string_view path) const {
  if (watcher_) watcher_({kind, path});
}

Result<std::string> FileTree::Read(std::string_view path, std::size_t bytes_max) const {
  NotifyWatcher(PathAccess::Kind::kRead, path);
  // O_NONBLOCK, because opening a pipe in a captured tree must not wait for a writer.
  RINGLET_TRY_ASSIGN(const Fd fd, OpenAt(path, O_RDONLY | O_NONBLOCK));
  struct stat facts {};
  if (fstat(fd.get(), &facts) != 0) return Failed("examine", Shown(path), errno);
  if (S_ISDIR(facts.st_mode)) return Failed("read", Shown(path), EISDIR);
  if (!S_ISREG(facts.st_mode)) return Failed("read", Shown(path), EINVAL);
  std::string content;
  if (ReadAll(fd.get(), bytes_max, content) < 0) return Failed("read", Shown(path), errno);
  if (content.size() > bytes_max) {
    return Error{Code::kUnsupported,
                 fmt::format("{} has more than {} bytes", Shown(path), bytes_max)};
  }
  return content;
}

Result<std::vector<std::string>> FileTree::List(std::string_view path,
                                                std::size_t entries_max) const {
  NotifyWatcher(PathAccess::Kind::kList, path);
  RINGLET_TRY_ASSIGN(Fd fd, OpenAt(path, O_RDONLY | O_DIRECTORY));
  const auto close = [](DIR* stream) { closedir(stream); };
  const std::unique_ptr<DIR, decltype(close)> directory(fdopendir(fd.get()), close);
  if (directory == nullptr) return Failed("list", Shown(path), errno);
  fd.Release();  // the stream closes it
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == entries_max) {
      return Error{Code::kUnsupported,
                   fmt::format("{} has more than {} entries", Shown(path), entries_max)};
    }
    names.emplace_back(name);
  }
  if (errno != 0) return Failed("list", Shown(path), errno);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> FileTree::ReadLink(std::string_view path) const {
  NotifyWatcher(PathAccess::Kind::kReadLink, path);
  RINGLET_TRY_ASSIGN(const Fd fd, OpenAt(path, O_PATH | O_NOFOLLOW));
  std::array<char, PATH_MAX> text{};
  const ssize_t bytes = readlinkat(fd.get(), "", text.data(), text.size());
  // Linux returns ENOENT for an empty path if the descriptor is not a link.
  if (bytes < 0) return Failed("read the link", Shown(path), errno == ENOENT ? EINVAL : errno);
  return std::string(text.data(), static_cast<std::size_t>(bytes));
}

bool FileTree::Exists(std::string_view path) const {
  NotifyWatcher(PathAccess::Kind::kExists, path);
  return OpenAt(path, O_PATH).ok();
}

}  // namespace ringlet::os
