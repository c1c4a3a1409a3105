#include "os/net/poll.hpp"

#include <poll.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace ringlet::os {

void PollReadable(std::span<const int> descriptors, std::chrono::nanoseconds timeout) {
  std::vector<pollfd> entries;
  entries.reserve(descriptors.size());
  for (const int descriptor : descriptors) {
    entries.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  }
  const auto timeout_ms = std::clamp<std::chrono::milliseconds::rep>(
      std::chrono::ceil<std::chrono::milliseconds>(timeout).count(), 0,
      std::numeric_limits<int>::max());
  // The result does not matter, because the caller checks its links again in any case.
  static_cast<void>(::poll(entries.data(), entries.size(), static_cast<int>(timeout_ms)));
}

}  // namespace ringlet::os
