// An operation that makes the links that another operation needs.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "collective/call/operation.hpp"
#include "os/process/thread.hpp"
#include "transport/link/link.hpp"

namespace ringlet::comm {

/// A thread makes the blocking call. It starts at the first Advance and ends with the call. If it
/// cannot start, the operation fails. Done when no rank is missing.
class BlockingTask final : public collective::Operation {
 public:
  struct Parts {
    /// Blocks until it has connected all ranks that it can. Ends soon after a request to `stop`.
    /// Empty if no connection blocks.
    std::function<Status()> run;
    std::stop_source stop = {};
    /// Called on the rank's thread by each Advance. Takes new links, returns the missing ranks.
    std::function<Result<std::vector<Rank>>()> take;
    transport::Waiter& waiter;  ///< the rank's waiter: woken when `run` has returned
    Rank self{};
    std::vector<Rank> peers = {};  ///< ranks that must connect as well
    std::string purpose = {};      ///< the call, for messages
  };
  explicit BlockingTask(Parts parts) : parts_(std::move(parts)) {}
  /// Cancels the blocking call and waits until its thread has noticed that.
  ~BlockingTask() override;

  Result<bool> Advance() override;
  /// Returns true if a rank has connected.
  bool moved() const override { return moved_; }
  /// "rank 0 in all_reduce of 8 float sum as operation 0 waits for ranks 1, 3 to begin".
  std::string WaitingFor() const override;
  std::optional<Rank> Awaits() const override;

 private:
  Parts parts_;
  bool begun_ = false;
  std::optional<Status> outcome_;  // the thread writes it before `done_`
  std::atomic<bool> done_{false};
  bool moved_ = false;
  std::jthread thread_;
};

}  // namespace ringlet::comm
