// Links: all links of one rank, and the waiter of its thread.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "os/net/entrance.hpp"
#include "os/net/listener.hpp"
#include "transport/arena/shared_buffers.hpp"
#include "transport/link/doorbell_waiter.hpp"
#include "transport/link/link.hpp"
#include "transport/link/transport.hpp"
#include "transport/shm/segment.hpp"
#include "transport/tcp/send_queues.hpp"

namespace ringlet::transport {

/// Belongs to the thread of its rank. Waiter states what other threads may call.
class Links {
 public:
  /// \param bell  of the rank; kept as long as the links
  Links(std::shared_ptr<RankBell> bell, std::vector<std::unique_ptr<Link>> links);

  /// State to create more links, for Connect and Extension only.
  struct Reserve {
    std::shared_ptr<Segment> segment = {};  ///< null if shm reaches no peer
    std::vector<os::Listener> listeners = {};
    std::shared_ptr<os::Entrance> entrance = {};
    std::shared_ptr<RtsParts> rts = std::make_shared<RtsParts>();
    /// Sockets of the TCP links, for other threads to inspect.
    std::shared_ptr<SendQueues> send_queues = std::make_shared<SendQueues>();
    /// Indexed by LinkChoice. Null until the first link of that kind exists.
    std::array<std::shared_ptr<Transport>, kLinkKinds> transports = {};
  };
  Reserve& reserve() { return reserve_; }
  const std::shared_ptr<RankBell>& bell() const { return bell_; }
  /// Adds links to peers that lack one.
  void Add(std::vector<std::unique_ptr<Link>> links);

  /// Returns the link to `peer`, or null if none exists. Valid as long as this object.
  Link* Find(Rank peer) const {
    return Index(peer) < by_peer_.size() ? by_peer_[Index(peer)] : nullptr;
  }
  Waiter& waiter() const { return *bell_->waiter; }
  std::size_t size() const { return links_.size(); }

  /// Returns the number of links of each kind, such as "3 shm, 1 tcp", or "none".
  std::string Summary() const;

 private:
  std::shared_ptr<RankBell> bell_;            // first, so that it is destroyed last
  std::vector<std::unique_ptr<Link>> links_;  // by rank
  std::vector<Link*> by_peer_;                // null for peers without a link
  Reserve reserve_;
};

}  // namespace ringlet::transport
