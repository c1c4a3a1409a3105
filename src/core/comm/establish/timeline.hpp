// The times at which a rank reached each phase of forming a communicator, for logs and traces.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value/bytes.hpp"
#include "bootstrap/member/member.hpp"
#include "watch/findings.hpp"

namespace ringlet::comm {

/// The phases in their order. Each ends when it is reached.
enum class Phase : std::uint8_t {
  kCalled,  ///< only after a failure of the parent: the caller has called for a new communicator
  kDiscoverLocal,  ///< the rank has read its machine and opened its listeners
  kCheckIn,        ///< it has reached the root or its host's node leader
  kRoster,         ///< it knows all ranks
  kBelow,          ///< all ranks below it in the tree are connected
  kStanding,       ///< all ranks are connected
  kPeerTable,      ///< it knows the hosts of all ranks
  kTopology,
  kPlan,
  kConnect,  ///< its links, or the memory of its host, are ready
  kBarrier,  ///< those of all ranks are ready
};
inline constexpr std::size_t kPhases = 11;
std::string_view Name(Phase phase);

class Timeline {
 public:
  Timeline() = default;
  /// Begins now.
  explicit Timeline(std::string_view call);
  /// The time line of a recovery. It begins with the failure of the parent, and kCalled ends now.
  static Timeline AfterFailure(std::string_view call, Instant failed_at);

  /// The phase ends now.
  void Reached(Phase phase);
  /// Sets the phases of joining from the records of the control network.
  void Joined(const bootstrap::Milestones& milestones);

  /// Returns the time since the beginning. Zero if the phase was not reached.
  Instant at(Phase phase) const { return reached_[static_cast<std::size_t>(phase)]; }
  /// Returns the duration of the phase, since the last reached phase before it.
  Instant DurationOf(Phase phase) const;
  Instant total() const;
  /// The times of a recovery so far. Empty if no parent has failed.
  std::optional<watch::RecoveryTimes> recovery() const;
  const std::string& call() const { return call_; }
  /// Returns the Unix time of the beginning, for comparing hosts.
  Instant began_unix() const { return began_unix_; }

  /// Returns NCCL's line: "Init timings - Establish: rank 0 nranks 4 total 0.0123 (...)", in
  /// seconds. Kernels and allocation, which Ringlet does not have, are zero.
  std::string Line(std::uint32_t rank, std::uint32_t size) const;

  bool operator==(const Timeline&) const = default;

 private:
  friend void Encode(Writer& out, const Timeline& timeline);
  friend Timeline DecodeTimelineFrom(Reader& in);
  std::string call_;
  Instant began_{0};
  Instant began_unix_{0};
  std::array<Instant, kPhases> reached_{};
};

Bytes Encode(const Timeline& timeline);
/// Errors  kProtocol  not a time line.
Result<Timeline> DecodeTimeline(View bytes);

struct RankTimeline {
  std::string rank;  ///< "rank 3 (host node7, pid 4711)"
  Timeline timeline;
};
/// Returns all ranks as a Chrome trace (JSON), one row each, for ui.perfetto.dev and
/// chrome://tracing. Compares clocks of different hosts without a correction.
std::string TraceOf(const std::vector<RankTimeline>& ranks);

}  // namespace ringlet::comm
