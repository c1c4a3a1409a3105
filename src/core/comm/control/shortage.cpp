#include "comm/control/shortage.hpp"

#include <fmt/format.h>

#include <utility>

namespace ringlet::comm {

Instant ShortageWatch::Look(std::uint64_t count, Instant now) {
  if (std::exchange(count_, count) != count) {
    if (first_ == Instant(0)) first_ = now;
    last_ = now;
    return now - first_ >= kLasts ? now - first_ : Instant(0);
  }
  if (now - last_ >= kPause) first_ = Instant(0);
  return Instant(0);
}

std::string ShortageText(const os::DescriptorUse& use) {
  // Some descriptors are already free again when they are counted.
  const bool own_limit = use.open + use.limit / 8 >= use.limit;
  return fmt::format("{} of at most {} are open in its process ({}): {}", use.open, use.limit,
                     own_limit ? "EMFILE" : "ENFILE",
                     own_limit ? "raise ulimit -n" : "raise fs.file-max of the host");
}

}  // namespace ringlet::comm
