// The traces of the ranks of one communicator compared: where they first differ, and which rank is
// late. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "watch/rank_trace.hpp"
#include "watcher/trace/clocks.hpp"

namespace ringlet::watch {

/// The first collective that not all ranks called alike.
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
/// Only where all traces reach back is compared. Ranks that called different things come first, at
/// whatever operation: a rank that heard of that failure before it called earlier ones is no cause.
/// \param traces  of one communicator, by rank
std::optional<Divergence> FirstDivergence(const std::vector<RankTrace>& traces);
/// "operation 17: ranks 0-2 called all_reduce of 8 float sum, rank 3 called barrier".
std::string ToText(const Divergence& divergence);

/// A collective in which the ranks waited for one.
struct LateOperation {
  RecordedOperation call;  ///< of the late rank
  std::uint32_t rank = 0;  ///< began it last
  Instant late{0};         ///< after the first
  Instant took{0};         ///< from the first that began to the last that ended; zero: unknown
};
/// How much the others waited for a rank.
struct RankLateness {
  std::uint32_t rank = 0;
  std::uint64_t times_last = 0;
  Instant late{0};  ///< sum of LateOperation::late
};
struct Lateness {
  std::uint64_t compared = 0;             ///< collectives that were measured on two ranks at least
  std::vector<LateOperation> operations;  ///< the latest first, at most kLateOperationsMax
  std::vector<RankLateness> ranks;        ///< the latest first; those that were never last are not
};
inline constexpr std::size_t kLateOperationsMax = 20;
/// \param shifts  of AlignClocks
Lateness LatenessOf(const std::vector<RankTrace>& traces, const std::vector<ClockShift>& shifts);

}  // namespace ringlet::watch
