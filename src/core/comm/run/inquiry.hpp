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
#include "comm/process/process.hpp"
#include "transport/wireup/links.hpp"

namespace ringlet::comm {

/// Belongs to the thread that runs the operations.
class Inquiry {
 public:
  /// \param control, links, process  outlive this
  Inquiry(Control& control, transport::Links& links, Rank self, std::uint32_t size,
          const Process& process)
      : control_(control),
        links_(links),
        self_(self),
        size_(size),
        process_(process),
        is_stopped_(process.is_stopped()),
        shortages_(process.shortages()) {}

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
  Error Conclude(const Error& error, const collective::Operation& ended);
  /// The reason that Conclude gave. The service thread, which may be late, fails the control
  /// network for it; the engine cannot take another call before that.
  const std::optional<Error>& concluded() const { return concluded_; }

 private:
  Error ReasonOf(const Error& error, const collective::Operation& ended);
  /// Facts that this rank alone knows; behind the reason, unless other ranks know a better one.
  std::string Hint() const;
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
  const Process& process_;
  const bootstrap::IsStopped is_stopped_;  // asked about ranks that do not answer
  const std::uint64_t shortages_;          // of the process, when the communicator was formed
  std::optional<Error> concluded_;
  collective::Fingerprint call_;
  std::uint32_t looks_ = 0;       // at whether it stands still
  Instant looked_around_{0};      // when LongWait was asked last
  std::string seen_waiting_for_;  // by the last look
  std::optional<Rank> seen_gone_;
};

}  // namespace ringlet::comm
