// Operation: one rank's part of one call, as its drivers (run.hpp, comm/run/group.hpp) see it.
#pragma once
#include <optional>
#include <string>

#include "collective/call/wait_policy.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"
#include "transport/link/link.hpp"

namespace ringlet::collective {

/// A waiter and a spinner for news that does not arrive over links.
struct WaitTarget {
  transport::Waiter* waiter = nullptr;
  Spinner* spinner = nullptr;  ///< spins before sleeping; null to sleep at once
};

/// Makes progress when called and never blocks. All drivers use this interface for schedules over
/// links, for messages between two ranks and for engines on shared memory.
class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;

  /// Makes progress up to a bound; never blocks. Returns true if this rank's part is done: its
  /// output is complete and its input no longer needed.
  ///
  /// Only one thread may call it at a time. Call it repeatedly. After an error, every further call
  /// returns the same error.
  virtual Result<bool> Advance() = 0;

  /// Returns true if the last Advance made progress. If not, the caller should wait for news.
  virtual bool moved() const = 0;

  /// Describes the wait of this rank, for the message of a deadline: "rank 1 in all_reduce of 8
  /// float sum as operation 17 waits for data from rank 0 (4 of 8 elements of step 1 have arrived)
  /// and
  /// ...".
  virtual std::string WaitingFor() const = 0;
  /// Returns the rank that this rank waits for: a sender if there is one, else a receiver that
  /// takes no data. Empty if this rank does not wait.
  virtual std::optional<Rank> Awaits() const = 0;

  /// Ends an operation that has failed or is given up. Its buffers belong to the caller again, and
  /// peers and their threads no longer use them.
  virtual void Withdraw() {}

  /// Returns where to wait for the operation's news at present. Null: at the rank's links. While it
  /// is not null, Advance reports what `RunPolicy::check` would, so the caller checks only before
  /// sleeping.
  virtual const WaitTarget* place() const { return nullptr; }
};

}  // namespace ringlet::collective
