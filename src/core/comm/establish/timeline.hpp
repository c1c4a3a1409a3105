// When a rank got how far in forming a communicator: for the log, and for a picture of all ranks.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/value/bytes.hpp"
#include "bootstrap/member/member.hpp"

namespace ringlet::comm {

/// In the order in which they are reached; each ends when it is.
enum class Phase : std::uint8_t {
  kDiscoverLocal,  ///< it had read its machine and opened its doors
  kCheckIn,        ///< it had reached the root or its host's node leader
  kRoster,         ///< it knew all ranks
  kBelow,          ///< all below it in the tree were connected
  kStanding,       ///< all were
  kPeerTable,      ///< it knew the hosts of all ranks
  kTopology,
  kPlan,
  kConnect,  ///< its links, or the memory of its host, stood
  kBarrier,  ///< those of all ranks did
};
inline constexpr std::size_t kPhases = 10;
std::string_view Name(Phase phase);

class Timeline {
 public:
  Timeline() = default;
  /// Begins now.
  explicit Timeline(std::string_view call);

  /// The phase ends now.
  void Reached(Phase phase);
  /// Those of joining, as the control network has kept them.
  void Joined(const bootstrap::Milestones& milestones);

  /// Since the beginning; zero where it was not reached.
  Instant at(Phase phase) const { return reached_[static_cast<std::size_t>(phase)]; }
  /// How long the phase took: since the last one before it that was reached.
  Instant Took(Phase phase) const;
  Instant total() const;
  const std::string& call() const { return call_; }
  /// Unix time of the beginning, for comparing hosts.
  Instant began_unix() const { return began_unix_; }

  /// In the form of NCCL's line: "Init timings - Establish: rank 0 nranks 4 total 0.0123 (...)", in
  /// seconds. Kernels and allocation, which it has and Ringlet has not, are zero.
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
/// All ranks as a Chrome trace (JSON), a row each: ui.perfetto.dev and chrome://tracing show it.
/// Clocks of different hosts are compared as they are.
std::string TraceOf(const std::vector<RankTimeline>& ranks);

}  // namespace ringlet::comm
