// A signal that is counted, for a thread that looks at the count: the handler does nothing else, so
// it may interrupt anything.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ringlet/status.hpp"

namespace ringlet::os {

/// The signals that a user may choose, by name, with or without "SIG": HUP, QUIT, USR1, USR2.
/// Empty: it is none of these.
std::optional<int> SignalNamed(std::string_view name);

/// Takes the place of a signal's usual effect while it lives. Of one signal there may be several.
class SignalCounter {
 public:
  /// Errors  kUnsupported  the program has a handler of its own for it, or ignores it: that stays
  static Result<SignalCounter> Open(int signal);
  SignalCounter(SignalCounter&& other) noexcept : signal_(std::exchange(other.signal_, 0)) {}
  SignalCounter& operator=(SignalCounter&&) = delete;
  /// The signal has its usual effect again, unless the program has made it another since.
  ~SignalCounter();

  /// How often it has come to this process since the first was opened. Any thread.
  std::uint64_t count() const;

 private:
  explicit SignalCounter(int signal) : signal_(signal) {}
  int signal_;  // 0: moved from
};

}  // namespace ringlet::os
