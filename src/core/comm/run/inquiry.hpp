// Finds out why an operation makes no progress: queries the awaited ranks and names the cause.
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
        is_stopped_(process.facts().is_stopped()),
        shortages_(process.services().shortages()) {}

  /// Sets the call that runs from now on.
  void SetCall(const collective::Fingerprint& call);
  /// Valid as long as this, because FlightRecorder keeps a pointer to it.
  const collective::Fingerprint& call() const { return call_; }

  /// Succeeds while `running` may continue: not failed, not aborted, in time, and no awaited rank
  /// has made a different call.
  Status Check(Instant deadline, std::chrono::milliseconds timeout,
               const collective::Operation& running);

  /// Fails the communicator on all ranks with the best known reason, and returns that reason.
  /// \param error  of `ended`
  Error Conclude(const Error& error, const collective::Operation& ended);
  /// Returns the reason that Conclude returned. The service thread may fail the control network
  /// later, but the engine cannot accept another call before that.
  const std::optional<Error>& concluded() const { return concluded_; }

 private:
  Error ReasonOf(const Error& error, const collective::Operation& ended);
  /// Facts that only this rank knows. They follow its reason, unless other ranks have a better one.
  std::string Hint() const;
  std::string MissingRanksText(const collective::Operation& running);
  /// Queries the calls of the ranks that `running` awaits. Succeeds unless one contradicts this
  /// rank's call.
  /// \param given_up  the operation has failed anyway, so that a probable contradiction counts too
  Status CompareCalls(const collective::Operation& running, bool given_up);
  Error LeaveErrorOf(Rank whom, const collective::Operation& running) const;

  Control& control_;
  transport::Links& links_;
  const Rank self_;
  const std::uint32_t size_;
  const Process& process_;
  const bootstrap::IsStopped is_stopped_;  // queried about ranks that do not answer
  const std::uint64_t shortages_;          // of the process, when the communicator was formed
  std::optional<Error> concluded_;
  collective::Fingerprint call_;
  std::uint32_t looks_ = 0;       // number of looks for progress
  Instant looked_around_{0};      // time of the last LongWait::Look
  std::string seen_waiting_for_;  // by the last look
  std::optional<Rank> seen_gone_;
};

}  // namespace ringlet::comm
