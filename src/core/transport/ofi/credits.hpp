// Credits: permission to send, for both ends of one direction of a link.
//
// The receiver keeps a fixed number of buffers ready, and each message takes one. The sender never
// has more messages in flight than there are buffers. From time to time the receiver sends the
// total number of buffers that it has freed since the start, so a repeated message is harmless.
#pragma once
#include <algorithm>
#include <cstdint>

#include "ringlet/status.hpp"

namespace ringlet::transport::ofi {

class SendCredits {
 public:
  explicit SendCredits(std::uint32_t buffers) : buffers_(buffers) {}

  bool MaySend() const { return sent_ - freed_ < buffers_; }
  void Sent() { ++sent_; }
  std::uint64_t sent() const { return sent_; }

  /// Records the number that the receiver sent.
  /// Errors  kProtocol  the number decreased, or exceeds the messages sent
  Status RecordReport(std::uint64_t freed) {
    if (freed < freed_ || freed > sent_)
      return Error{Code::kProtocol, "credits for messages that were never sent"};
    freed_ = freed;
    return Ok();
  }

 private:
  std::uint64_t buffers_, sent_ = 0, freed_ = 0;
};

/// Maximum number of credit messages that the sender has not processed yet. The sender must process
/// one before it can send enough data to make the next one due. (At most three before it processes
/// any, plus the greeting.)
inline constexpr std::uint32_t kCreditBuffers = 4;

class ReceiveCredits {
 public:
  explicit ReceiveCredits(std::uint32_t buffers)
      : period_(std::max<std::uint32_t>(1, buffers / 2)) {}

  void Freed() { ++freed_; }
  /// Returns true if half of the buffers were freed since the last credit message.
  bool IsDue() const { return freed_ - told_ >= period_; }
  std::uint64_t freed() const { return freed_; }
  void RecordReport() { told_ = freed_; }

 private:
  std::uint64_t period_, freed_ = 0, told_ = 0;
};

}  // namespace ringlet::transport::ofi
