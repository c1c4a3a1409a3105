// Finds out why an operation stands still: asks the ranks for which it waits, and names the cause.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "bootstrap/roster.hpp"
#include "collective/call/fingerprint.hpp"
#include "collective/call/operation.hpp"
#include "comm/control/control.hpp"
#include "transport/wireup/links.hpp"

namespace ringlet::comm {

/// Belongs to the thread that runs the operations.
class Inquiry {
 public:
  /// \param control, links  outlive this
  /// \param is_stopped  asked of ranks that do not answer
  Inquiry(Control& control, transport::Links& links, Rank self, std::uint32_t size,
          bootstrap::IsStopped is_stopped)
      : control_(control),
        links_(links),
        self_(self),
        size_(size),
        is_stopped_(std::move(is_stopped)) {}

  /// The call that runs from now on.
  void SetCall(const collective::Fingerprint& call);
  /// Lives as long as this: FlightRecorder keeps a pointer to it.
  const collective::Fingerprint& call() const { return call_; }

  /// Ok while it is worth going on with `running`: not failed, not aborted, in time, and no rank
  /// for which it waits has called something else.
  Status Check(Instant deadline, std::chrono::milliseconds timeout,
               const collective::Operation& running);

  /// Fails the communicator on all ranks for the best reason that is known, and gives that reason.
  /// \param error  of `ended`
  /// \param hint   what else this rank knows; behind the reason, unless other ranks know a better
  /// one
  Error ReasonOf(const Error& error, const collective::Operation& ended, const std::string& hint);

 private:
  std::string WhoIsMissing(const collective::Operation& running);
  /// Asks the ranks for which `running` waits what they called. Ok: nothing that contradicts this
  /// rank's call was found.
  /// \param given_up  the operation has failed anyway, so that what is only likely counts too
  Status CompareCalls(const collective::Operation& running, bool given_up);
  Error LeftBefore(Rank whom, const collective::Operation& running) const;

  Control& control_;
  transport::Links& links_;
  const Rank self_;
  const std::uint32_t size_;
  const bootstrap::IsStopped is_stopped_;
  collective::Fingerprint call_;
  std::uint32_t looks_ = 0;       // at whether it stands still
  Instant looked_around_{0};      // when LongWait was asked last
  std::string seen_waiting_for_;  // by the last look
  std::optional<Rank> seen_gone_;
};

}  // namespace ringlet::comm
