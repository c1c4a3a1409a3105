#include "os/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "os/fd.hpp"
#include "os/sockaddr.hpp"

namespace ringlet::os {

Status WriteFile(const std::string& path, std::string_view content) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return SystemError("cannot write " + path, errno);
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return SystemError("cannot write " + path, errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return Ok();
}

}  // namespace ringlet::os
