// A lack of descriptors that lasts, as far as a count of shortages shows it. Pure.
#pragma once
#include <cstdint>
#include <string>

#include "base/wire/machine.hpp"
#include "os/process/limits.hpp"

namespace ringlet::comm {

class ShortageWatch {
 public:
  static constexpr Instant kPeriod = std::chrono::milliseconds(100);
  /// A shorter lack passes: callers call again.
  static constexpr Instant kLasts = std::chrono::milliseconds(800);
  /// Those who lack descriptors, or meet a process that does, try again within this.
  static constexpr Instant kPause = std::chrono::milliseconds(1500);

  explicit ShortageWatch(std::uint64_t count) : count_(count) {}

  /// To be called every kPeriod. \param count  of shortages so far
  /// Returns how long the lack has lasted, once that is kLasts; else zero.
  Instant Look(std::uint64_t count, Instant now);

 private:
  std::uint64_t count_;
  Instant first_{0}, last_{0};  // zero: there is none
};

/// "64 of at most 64 are open in its process (EMFILE): raise ulimit -n"
std::string ShortageText(const os::DescriptorUse& use);

}  // namespace ringlet::comm
