// Counts a signal for a thread that reads the count. The handler does no more, so it may interrupt
// any code.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ringlet/status.hpp"

namespace ringlet::os {

/// The signal with this name, with or without "SIG": HUP, QUIT, USR1 or USR2. Empty for other
/// names.
std::optional<int> SignalNamed(std::string_view name);

/// Replaces a signal's usual effect while it lives. Several counters of one signal may exist.
class SignalCounter {
 public:
  /// Errors  kUnsupported  the program handles or ignores the signal itself, and continues to do so
  static Result<SignalCounter> Open(int signal);
  SignalCounter(SignalCounter&& other) noexcept : signal_(std::exchange(other.signal_, 0)) {}
  SignalCounter& operator=(SignalCounter&&) = delete;
  /// Restores the signal's usual effect, unless the program has changed it meanwhile.
  ~SignalCounter();

  /// Number of signals that this process received since the first counter was opened. Any thread.
  std::uint64_t count() const;

 private:
  explicit SignalCounter(int signal) : signal_(signal) {}
  int signal_;  // 0: moved from
};

}  // namespace ringlet::os
