// Models an Ethernet switch: computes when and where an incoming frame leaves. Pure.
//
// A frame leaves its host at the rate of the host's link, takes the delay, and arrives at the rate
// of the other host's link. Each link carries one frame at a time. A frame does not wait in the
// switch for its own end (cut-through), so a link's rate costs its time once.
//
// Hosts queue fairly, as hosts with fq_codel do. A single packet of a flow without waiting bulk
// data passes the queue, after the packet on the cable. Otherwise acknowledgements wait behind the
// other direction's data, both directions alternate in bursts, and links stand idle. The switch has
// one queue per link.
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
  std::uint64_t bytes_per_s = 0;  ///< per link and direction; 0: unlimited
  Instant delay{0};               ///< one way, from host to host
};

/// An Ethernet frame behind Linux's virtio header. One frame may stand for many TCP packets; each
/// counts with a header of its own.
struct EthernetFrame {
  std::uint32_t port = 0;  ///< destination port
  Bytes memory;            ///< may be longer than the frame, because it is reused
  std::size_t size = 0;
  View bytes() const { return View(memory).first(size); }
};

class FrameSwitch {
 public:
  explicit FrameSwitch(const FrameSwitchOptions& options);

  /// Accepts a frame from the host at `port`: the first `size` bytes of `memory`. Broadcast frames
  /// leave at all other ports. The switch drops packets with more than kBacklogBytesMax ahead of
  /// them on a link.
  void Arrive(std::uint32_t port, Bytes memory, std::size_t size, Instant now);

  /// Returns the time for the next call of TakeDue: a frame is due then, or its time is known then.
  std::optional<Instant> NextDue() const;
  /// Returns the next due frame in order; empty if none is due.
  std::optional<EthernetFrame> TakeDue(Instant now);

  std::uint64_t dropped() const { return dropped_; }
  static constexpr std::uint64_t kBacklogBytesMax = std::uint64_t{16} << 20;  // per link

 private:
  struct Waiting {
    Instant due;
    std::uint64_t order;  // breaks ties: the first one wins
    EthernetFrame frame;
    Instant takes{0};
    bool operator>(const Waiting& other) const {
      return due != other.due ? due > other.due : order > other.order;
    }
  };
  using Queue = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>;
  /// The outgoing link of a host.
  struct Uplink {
    Instant free{0};                        // end of all frames so far
    Instant thin_free{0};                   // and of all single packets ahead of them
    std::map<std::uint64_t, Instant> bulk;  // by flow: end of its last large frame
  };

  void Send(std::uint32_t from, EthernetFrame frame, Instant now);
  Instant DepartureTime(Uplink& link, std::uint64_t flow, std::uint64_t bytes, Instant now) const;
  void DeliverToPort(Waiting crossing);
  Instant TimeFor(std::uint64_t bytes) const;

  FrameSwitchOptions options_;
  std::vector<Uplink> up_;          // by port
  std::vector<Instant> down_free_;  // by port: when its link is free
  Queue crossing_;                  // not yet at the link of the receiver
  Queue waiting_;                   // due at the receiver
  std::uint64_t order_ = 0, dropped_ = 0;
};

}  // namespace ringlet::testbed
