#include "os/fd.hpp"

#include <unistd.h>

namespace ringlet::os {

void Fd::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Descriptor Keep(Fd fd) {
  const int value = fd.get();
  return Descriptor{value, std::make_shared<const Fd>(std::move(fd))};
}

}  // namespace ringlet::os
