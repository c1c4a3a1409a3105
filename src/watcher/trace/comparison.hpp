// Compares a communicator's traces: the first difference, and the late rank. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "watch/rank_trace.hpp"
#include "watcher/trace/clocks.hpp"

namespace ringlet::watch {

/// The first collective with different calls among the ranks.
struct Divergence {
  std::uint64_t sequence = 0;
  struct DivergedRanks {
    std::optional<RecordedOperation> call;  ///< empty: these ranks never called it
    std::vector<std::uint32_t> ranks;
    bool operator==(const DivergedRanks&) const = default;
  };
  std::vector<DivergedRanks> groups;
  bool operator==(const Divergence&) const = default;
};
/// Compares only the part covered by all traces. Different calls take precedence over missing ones,
/// at any operation: a rank that received that failure before its earlier calls is not the cause.
/// \param traces  of one communicator, by rank
std::optional<Divergence> FirstDivergence(const std::vector<RankTrace>& traces);
/// "operation 17: ranks 0-2 called all_reduce of 8 float sum, rank 3 called barrier".
std::string ToText(const Divergence& divergence);

/// A collective with one late rank.
struct LateOperation {
  RecordedOperation call;  ///< of the late rank
  std::uint32_t rank = 0;  ///< last to begin it
  Instant late{0};         ///< after the first
  Instant took{0};         ///< from the first begin to the last end; zero: unknown
};
/// Total delay of the other ranks by one rank.
struct RankLateness {
  std::uint32_t rank = 0;
  std::uint64_t times_last = 0;
  Instant late{0};  ///< sum of LateOperation::late
};
struct Lateness {
  std::uint64_t compared = 0;             ///< collectives measured on at least two ranks
  std::vector<LateOperation> operations;  ///< the latest first, at most kLateOperationsMax
  std::vector<RankLateness> ranks;        ///< the latest first, without ranks that were never last
};
inline constexpr std::size_t kLateOperationsMax = 20;
/// \param shifts  from AlignClocks
Lateness LatenessOf(const std::vector<RankTrace>& traces, const std::vector<ClockShift>& shifts);

}  // namespace ringlet::watch
