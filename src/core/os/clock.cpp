#include "os/clock.hpp"

#include <time.h>

#include <algorithm>
#include <array>

namespace ringlet::os {

Instant Now() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::max(std::chrono::duration_cast<Instant>(since_boot), Instant(1));
}

Instant UnixTime() {
  return std::chrono::duration_cast<Instant>(std::chrono::system_clock::now().time_since_epoch());
}

Instant ProcessCpuTime() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::string WallTimeText() {
  const time_t now = time(nullptr);
  struct tm parts {};
  if (localtime_r(&now, &parts) == nullptr) return "no time";
  std::array<char, 32> text{};
  return {text.data(), strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts)};
}

}  // namespace ringlet::os
