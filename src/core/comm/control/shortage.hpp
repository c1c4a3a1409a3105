// Detects a lasting lack of descriptors from a count of shortages. Pure.
#pragma once
#include <cstdint>
#include <string>

#include "base/wire/machine.hpp"
#include "os/process/limits.hpp"

namespace ringlet::comm {

class ShortageWatch {
 public:
  static constexpr Instant kPeriod = std::chrono::milliseconds(100);
  /// A shorter lack resolves itself, because callers retry.
  static constexpr Instant kLasts = std::chrono::milliseconds(800);
  /// A process that lacks descriptors retries within this time. So do its peers.
  static constexpr Instant kPause = std::chrono::milliseconds(1500);

  explicit ShortageWatch(std::uint64_t count) : count_(count) {}

  /// Called every kPeriod. Returns the duration of a lack of at least kLasts. Otherwise zero.
  /// \param count  of shortages so far
  Instant Look(std::uint64_t count, Instant now);

 private:
  std::uint64_t count_;
  Instant first_{0}, last_{0};  // zero: no lack
};

/// "64 of at most 64 are open in its process (EMFILE): raise ulimit -n"
std::string ShortageText(const os::DescriptorUse& use);

}  // namespace ringlet::comm
