// Links that an operation needs: made while it is awaited, as an operation of its own.
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

/// A blocking call is made by a thread, which lives from the first Advance to the end of that. If
/// none can be started the operation fails. Done when no rank is missing.
class BlockingTask final : public collective::Operation {
 public:
  struct Parts {
    /// Blocks until no rank is missing that it can bring. Ends soon after `stop` is requested.
    /// Empty where nothing blocks.
    std::function<Status()> run;
    std::stop_source stop = {};
    /// On the rank's thread, with each Advance: takes those who have come, says who is missing.
    std::function<Result<std::vector<Rank>>()> take;
    transport::Waiter& waiter;  ///< of the rank: woken when `run` has returned
    Rank self{};
    std::vector<Rank> peers = {};  ///< ranks that must come as well
    std::string purpose = {};      ///< the call, for messages
  };
  explicit BlockingTask(Parts parts) : parts_(std::move(parts)) {}
  /// Gives up what is under way, within the time that a thread takes to hear of it.
  ~BlockingTask() override;

  Result<bool> Advance() override;
  /// Whether a rank has come.
  bool moved() const override { return moved_; }
  /// "rank 0 in all_reduce of 8 float sum as operation 0 waits for ranks 1, 3 to begin".
  std::string WaitingFor() const override;
  std::optional<Rank> Awaits() const override;

 private:
  Parts parts_;
  bool begun_ = false;
  std::optional<Status> outcome_;  // written by the thread before `done_`
  std::atomic<bool> done_{false};
  bool moved_ = false;
  std::jthread thread_;
};

}  // namespace ringlet::comm
