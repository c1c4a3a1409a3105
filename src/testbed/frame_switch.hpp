// An Ethernet switch as a model: when a frame that comes in goes out, and where. Pure.
//
// A frame leaves its host at the rate of the host's link, one after another, takes the delay, and
// arrives at the rate of the other host's link, one after another. It does not wait in the switch
// for its own end (cut-through): a link's rate costs its time once.
//
// Hosts queue fairly, as those with fq_codel do: a single packet of a flow of which nothing large
// waits goes before what waits, after the packet that is on the cable. Else acknowledgements wait
// behind the other direction's data, both directions come in bursts by turns, and links stand idle.
// The switch has one queue for each link.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "base/value/bytes.hpp"
#include "base/wire/machine.hpp"

namespace ringlet::testbed {

struct FrameSwitchOptions {
  std::uint32_t ports = 0;
  std::uint64_t bytes_per_s = 0;  ///< of each link, each way; 0: unlimited
  Instant delay{0};               ///< one way, from host to host
};

/// A frame with Linux's virtio header before it; may be many packets of TCP, which are counted with
/// a header each.
struct EthernetFrame {
  std::uint32_t port = 0;  ///< to which it goes
  Bytes memory;            ///< may be longer than the frame: it is used again
  std::size_t size = 0;
  View bytes() const { return View(memory).first(size); }
};

class FrameSwitch {
 public:
  explicit FrameSwitch(const FrameSwitchOptions& options);

  /// A frame from the host at `port`: the first `size` bytes of `memory`. Those for all go to all
  /// others. Packets that have waited too long for a link are dropped: kBacklogBytesMax.
  void Arrive(std::uint32_t port, Bytes memory, std::size_t size, Instant now);

  /// When TakeDue is to be called next: one goes out then, or it is known when.
  std::optional<Instant> NextDue() const;
  /// One that is due, in order; empty when there is none.
  std::optional<EthernetFrame> TakeDue(Instant now);

  /// Frames that were dropped.
  std::uint64_t dropped() const { return dropped_; }
  static constexpr std::uint64_t kBacklogBytesMax = std::uint64_t{16} << 20;  // of a link

 private:
  struct Waiting {
    Instant due;
    std::uint64_t order;  // of equals the first
    EthernetFrame frame;
    Instant takes{0};
    bool operator>(const Waiting& other) const {
      return due != other.due ? due > other.due : order > other.order;
    }
  };
  using Queue = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>;
  /// The link of a host.
  struct Uplink {
    Instant free{0};                        // when all so far has left
    Instant thin_free{0};                   // and all single packets that went first
    std::map<std::uint64_t, Instant> bulk;  // by flow: when what was large of it has left
  };

  void Send(std::uint32_t from, EthernetFrame frame, Instant now);
  Instant Leave(Uplink& link, std::uint64_t flow, std::uint64_t bytes, Instant now) const;
  void Land(Waiting crossing);
  Instant TimeFor(std::uint64_t bytes) const;

  FrameSwitchOptions options_;
  std::vector<Uplink> up_;          // by port
  std::vector<Instant> down_free_;  // by port: when its link has brought all so far
  Queue crossing_;                  // has not left, or is due at the link of the receiver
  Queue waiting_;                   // due at the receiver
  std::uint64_t order_ = 0, dropped_ = 0;
};

}  // namespace ringlet::testbed
