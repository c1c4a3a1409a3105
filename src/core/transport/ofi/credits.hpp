// The permission to send: both ends of one direction of a link, as values.
//
// The receiver has a fixed number of buffers waiting. Each message takes one; the sender has no
// more messages on their way than there are buffers. The receiver tells from time to time how many
// it has had back in use since the beginning, so that a message that tells it twice does no harm.
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

  /// The number that the receiver told. Errors kProtocol it took one back, or freed what was not
  /// sent
  Status Told(std::uint64_t freed) {
    if (freed < freed_ || freed > sent_)
      return Error{Code::kProtocol, "credits for messages that were never sent"};
    freed_ = freed;
    return Ok();
  }

 private:
  std::uint64_t buffers_, sent_ = 0, freed_ = 0;
};

/// Messages in which credits have been told and which the sender has not taken yet: never more than
/// this, as the sender must take one before it can fill what makes the next due. (At most three
/// before it takes any, and the greeting.)
inline constexpr std::uint32_t kCreditBuffers = 4;

class ReceiveCredits {
 public:
  explicit ReceiveCredits(std::uint32_t buffers)
      : period_(std::max<std::uint32_t>(1, buffers / 2)) {}

  void Freed() { ++freed_; }
  /// Whether it is time to tell the sender freed(): half of the buffers have become free since.
  bool Due() const { return freed_ - told_ >= period_; }
  std::uint64_t freed() const { return freed_; }
  void Told() { told_ = freed_; }

 private:
  std::uint64_t period_, freed_ = 0, told_ = 0;
};

}  // namespace ringlet::transport::ofi
