// Finds more bandwidth than NCCL's search, if possible, with channels of any bandwidth and any NIC.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/packing/packing.hpp"
#include "plan/routes/limits.hpp"
#include "plan/search/channel_search.hpp"
#include "plan/search/compat_search.hpp"
#include "plan/search/direct_search.hpp"

namespace ringlet::plan {

/// A number of channels, and their bandwidth.
struct Division {
  std::uint32_t channels = 0;
  std::uint32_t mb_per_s = 0;  ///< of each channel
  bool operator==(const Division&) const = default;
};

/// The range of total bandwidths to try: above `floor`, at most `bound`.
struct DivisionRange {
  std::uint32_t bound = 0;  ///< MB/s of all channels together
  std::uint64_t floor = 0;
  std::uint32_t like = 0;  ///< preferred number of channels
  std::uint32_t channels_min = 1;
  std::uint32_t channels_max = 1;
};

/// The divisions that the limits allow, best first: by total bandwidth in steps of 1/64, then by
/// the distance of the count to `like`, then by fewer channels.
/// \param widest  MB/s: maximum for one channel
std::vector<Division> DivisionsOf(const DivisionRange& range, const Limits& limits,
                                  std::uint32_t widest);

/// The parts of a search within one host. All must outlive it.
struct HostTools {
  const RouteTable& table;
  ChannelSearch& search;
  DirectSearch& direct_search;
  Packings& packings;
  const SystemFacts& facts;
  const SearchOptions& options;
};

/// The graph to improve, and the conditions.
struct BetterThan {
  const PatternGraph& graph;  ///< the best graph so far, with the pattern's bound
  std::uint64_t floor = 0;    ///< MB/s of all channels together; only a higher total is better
  const Wanted& wanted;
  const Limits& limits;  ///< limits of the pattern
};

/// Searches for a graph with more bandwidth.
/// \param budget  steps; the function subtracts its own
/// \param search_trace  the function appends its steps, if not null
/// \return the first division that fits, as wide as possible; `than.graph` if none fits
PatternGraph FindBetter(const HostTools& tools, const BetterThan& than, std::int64_t& budget,
                        SearchTrace* search_trace);

/// Steps for all patterns of a host together, on top of NCCL's search: some milliseconds.
inline constexpr std::int64_t kBetterBudget = 96'000;
inline constexpr std::int64_t kQuickBudget = 2'000;  // steps before the computation of all limits

}  // namespace ringlet::plan
