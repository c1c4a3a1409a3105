// What an operation needs done first and what blocks: done by a thread, awaited as an operation.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "collective/operation.hpp"
#include "transport/link.hpp"

namespace ringlet::comm {

/// The thread lives from the first Advance to the end of what it does.
class Errand final : public collective::Operation {
 public:
  struct Parts {
    /// Blocks; what it takes hold of belongs to it until it returns. Ends soon after `stop` is
    /// requested.
    std::function<Status()> run;
    std::stop_source stop = {};
    /// On the rank's thread, after `run` has succeeded.
    std::function<Status()> finish = [] { return Ok(); };
    transport::Waiter& waiter;  ///< of the rank: woken when `run` has returned
    Rank self{};
    std::vector<Rank> peers = {};  ///< who must come as well
    std::string purpose = {};      ///< the call, for messages
  };
  explicit Errand(Parts parts) : parts_(std::move(parts)) {}
  /// Gives up what is under way, within the time that a thread takes to hear of it.
  ~Errand() override;

  Result<bool> Advance() override;
  bool moved() const override { return false; }
  /// "rank 0 in all_reduce of 8 float sum as operation 0 waits for ranks 1, 3 to begin".
  std::string WaitingFor() const override;
  std::optional<Rank> Awaits() const override;

 private:
  Parts parts_;
  std::optional<Status> outcome_;  // written by the thread before `done_`
  std::atomic<bool> done_{false};
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace ringlet::comm
