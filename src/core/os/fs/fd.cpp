#include "os/fs/fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "os/error.hpp"

namespace ringlet::os {

void Fd::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<Fd> Duplicate(int fd) {
  Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return SystemError("cannot duplicate a descriptor", errno);
  return copy;
}

Descriptor Keep(Fd fd) {
  const int value = fd.get();
  return Descriptor{value, std::make_shared<const Fd>(std::move(fd))};
}

}  // namespace ringlet::os
