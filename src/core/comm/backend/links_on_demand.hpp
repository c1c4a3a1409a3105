// The links of a rank. A communicator starts with links to its neighbours in the plan. An operation
// that needs other links makes them as its first part.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collective/exec/executor.hpp"
#include "collective/exec/messages.hpp"
#include "comm/backend/blocking_task.hpp"
#include "comm/control/control.hpp"
#include "comm/peers/peer_table.hpp"
#include "comm/process/config.hpp"
#include "transport/wireup/links.hpp"

namespace ringlet::comm {

/// Belongs to the rank's thread.
class LinksOnDemand {
 public:
  using Made = Result<std::unique_ptr<collective::Operation>>;

  /// \param origin, peer_table, control  outlive this
  /// \param timeout  of an operation; also limits the time for making links
  LinksOnDemand(std::unique_ptr<transport::Links> links, const Origin& origin,
                const PeerTable& peer_table, Control& control, std::chrono::milliseconds timeout)
      : links_(std::move(links)),
        origin_(origin),
        peer_table_(peer_table),
        control_(control),
        timeout_(timeout) {}

  transport::Links& links() const { return *links_; }
  transport::Waiter& waiter() const { return links_->waiter(); }
  /// Returns a function that finds the link to a peer. Valid as long as this.
  collective::LinkTo finder() const {
    return [this](Rank peer) { return links_->Find(peer); };
  }

  std::chrono::milliseconds timeout() const { return timeout_; }
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  // Errors of both functions: the links cannot be made, which fails the communicator on all ranks.
  /// Runs a task on its flow.
  Made Run(collective::Task task);
  /// Runs messages. A message begins as soon as its link exists.
  /// \param purpose  the call, for error messages
  Made Exchange(std::vector<collective::Message> messages, const std::string& purpose);

 private:
  Rank self() const { return Rank{origin_.config.rank}; }
  /// Returns a task that creates the missing links to `peers`. Null if none is missing.
  Result<std::unique_ptr<BlockingTask>> MakeLinks(std::vector<Rank> peers,
                                                  const std::string& purpose);
  Result<std::unique_ptr<BlockingTask>> BeginLinks(std::vector<Rank> peers,
                                                   const std::string& purpose);

  std::unique_ptr<transport::Links> links_;
  const Origin& origin_;
  const PeerTable& peer_table_;
  Control& control_;
  std::chrono::milliseconds timeout_;
};

}  // namespace ringlet::comm
