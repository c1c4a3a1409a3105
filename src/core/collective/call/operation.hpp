// One rank's part of one call, as its drivers see it: run.hpp, group.hpp.
#pragma once
#include <optional>
#include <string>

#include "collective/call/wait_policy.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"
#include "transport/link/link.hpp"

namespace ringlet::collective {

/// The place and the way to wait for news that does not come over links.
struct WaitTarget {
  transport::Waiter* waiter = nullptr;
  Spinner* spinner = nullptr;  ///< before sleeping there; null: sleeps at once
};

/// Something that makes progress when called and never blocks. Executions of schedules over links,
/// messages between two ranks and engines on shared memory are all driven through this.
class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;

  /// Does what can be done now, up to a bound; never blocks. True: this rank's part is done, its
  /// output is complete and its input no longer needed.
  ///
  /// Call from one thread at a time; again and again. After an error every further call gives the
  /// same error.
  virtual Result<bool> Advance() = 0;

  /// Whether the last Advance moved anything. If not, it pays to wait for news.
  virtual bool moved() const = 0;

  /// The rank that this rank waits for, for the message of a deadline: "rank 1 in all_reduce of 8
  /// float sum as operation 17 waits for data from rank 0 (4 of 8 elements of step 1 have come) and
  /// ...".
  virtual std::string WaitingFor() const = 0;
  /// The rank whose data are awaited or, if none are, one that takes no data; empty if there is
  /// none.
  virtual std::optional<Rank> Awaits() const = 0;

  /// It has failed or will not go on: takes its buffers back from peers or their threads. They are
  /// the caller's again.
  virtual void Withdraw() {}

  /// The place to wait for its news at present; null: at the links of the rank. A rank that waits
  /// there is told through Advance of what `RunPolicy::check` says, and is asked for it before
  /// sleeping only.
  virtual const WaitTarget* place() const { return nullptr; }
};

}  // namespace ringlet::collective
