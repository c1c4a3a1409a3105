// All links of one rank, and where its thread waits for them.
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

/// Belongs to the thread of its rank; see Waiter for what others may call.
class Links {
 public:
  /// \param bell  the rank's own; kept as long as the links
  Links(std::shared_ptr<RankBell> bell, std::vector<std::unique_ptr<Link>> links);

  /// The parts that make more links, for Connect and Extension alone.
  struct Reserve {
    std::shared_ptr<Segment> segment = {};  ///< null if no peer can be reached by shm
    std::vector<os::Listener> listeners = {};
    std::shared_ptr<os::Entrance> entrance = {};
    std::shared_ptr<RtsParts> rts = std::make_shared<RtsParts>();
    /// Of the TCP links, for other threads to look at.
    std::shared_ptr<SendQueues> send_queues = std::make_shared<SendQueues>();
    /// By LinkChoice; null before the first link of that kind.
    std::array<std::shared_ptr<Transport>, kLinkKinds> transports = {};
  };
  Reserve& reserve() { return reserve_; }
  const std::shared_ptr<RankBell>& bell() const { return bell_; }
  /// Adds links to peers that had none.
  void Add(std::vector<std::unique_ptr<Link>> links);

  /// The link to `peer`; null while there is none. Valid as long as this lives.
  Link* Find(Rank peer) const {
    return Index(peer) < by_peer_.size() ? by_peer_[Index(peer)] : nullptr;
  }
  Waiter& waiter() const { return *bell_->waiter; }
  std::size_t size() const { return links_.size(); }

  /// How many of which kind, such as "3 shm, 1 tcp"; "none" without any.
  std::string Summary() const;

 private:
  std::shared_ptr<RankBell> bell_;            // first, so that it goes last
  std::vector<std::unique_ptr<Link>> links_;  // by rank
  std::vector<Link*> by_peer_;                // null where there is none
  Reserve reserve_;
};

}  // namespace ringlet::transport
