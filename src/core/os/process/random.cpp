#include "os/process/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <span>

namespace ringlet::os {

Result<Secret> SecureRandom() {
  Secret bytes{};
  std::span<std::byte> rest(bytes);
  while (!rest.empty()) {
    const ssize_t drawn = getrandom(rest.data(), rest.size(), 0);
    if (drawn < 0 && errno == EINTR) continue;
    if (drawn <= 0)
      return Error{Code::kSystem, "getrandom gave no random bytes", drawn < 0 ? errno : EIO};
    rest = rest.subspan(static_cast<std::size_t>(drawn));
  }
  return bytes;
}

}  // namespace ringlet::os
