// An Ethernet switch as a model: when a frame that comes in goes out, and where. Pure.
//
// A frame leaves its host at the rate of the host's link, one after another, takes the delay, and
// arrives at the rate of the other host's link, one after another. It does not wait in the switch
// for its own end (cut-through): a link's rate costs its time once.
#pragma once
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "base/bytes.hpp"
#include "base/machine.hpp"

namespace ringlet::cli {

struct FrameSwitchOptions {
  std::uint32_t ports = 0;
  std::uint64_t bytes_per_s = 0;  ///< of each link, each way; 0: unlimited
  Instant delay{0};               ///< one way, from host to host
};

/// A frame with Linux's virtio header before it; may be many packets of TCP, which are counted with
/// a header each.
struct Frame {
  std::uint32_t port = 0;  ///< to which it goes
  Bytes bytes;
};

class FrameSwitch {
 public:
  explicit FrameSwitch(const FrameSwitchOptions& options);

  /// A frame from the host at `port`. Those for all go to all others. What has waited too long for
  /// a link is dropped: kBacklogBytesMax.
  void Arrive(std::uint32_t port, Bytes frame, Instant now);

  /// When the next one goes out.
  std::optional<Instant> NextDue() const;
  /// One that is due, in order; empty when there is none.
  std::optional<Frame> TakeDue(Instant now);

  /// Frames that were dropped.
  std::uint64_t dropped() const { return dropped_; }
  static constexpr std::uint64_t kBacklogBytesMax = std::uint64_t{16} << 20;  // of a link

 private:
  struct Waiting {
    Instant due;
    std::uint64_t order;  // of equals the first
    Frame frame;
    bool operator>(const Waiting& other) const {
      return due != other.due ? due > other.due : order > other.order;
    }
  };

  void Send(std::uint32_t from, std::uint32_t to, Bytes frame, Instant now);
  Instant TimeFor(std::uint64_t bytes) const;

  FrameSwitchOptions options_;
  std::vector<Instant> up_free_, down_free_;  // by port: when its link has sent all so far
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::uint64_t order_ = 0, dropped_ = 0;
};

}  // namespace ringlet::cli
