#include "os/fs/write_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/value/text.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {
namespace {

Error Failed(const std::string& path, int error) {
  constexpr std::size_t kShownBytesMax = 512;
  return {Code::kSystem,
          fmt::format("cannot write {}: {}", Printable(path, kShownBytesMax), std::strerror(error)),
          error};
}

}  // namespace

Status WriteFile(const std::string& path, std::string_view content) {
  constexpr int kMode = 0644;
  const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  if (!fd.valid()) return Failed(path, errno);
  while (!content.empty()) {
    const ssize_t bytes = write(fd.get(), content.data(), content.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return Failed(path, errno);
    content.remove_prefix(static_cast<std::size_t>(bytes));
  }
  return Ok();
}

Status ReplaceFile(const std::string& path, std::string_view content) {
  const std::string beside = path + ".new";
  RINGLET_TRY(WriteFile(beside, content));
  if (std::rename(beside.c_str(), path.c_str()) != 0) return Failed(path, errno);
  return Ok();
}

Status CreateFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Failed(path, error.value());
  if (access(path.c_str(), W_OK | X_OK) != 0) return Failed(path, errno);
  return Ok();
}

}  // namespace ringlet::os
