// More than NCCL's search finds, where there is more: channels of any bandwidth that leave by
// whichever NIC.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/packing/packing.hpp"
#include "plan/routes/limits.hpp"
#include "plan/search/channel_search.hpp"
#include "plan/search/compat_search.hpp"
#include "plan/search/direct_search.hpp"

namespace ringlet::plan {

/// How many channels of how much.
struct Division {
  std::uint32_t channels = 0;
  std::uint32_t mb_per_s = 0;  ///< of each
  bool operator==(const Division&) const = default;
};

/// The bandwidths to try: at most `bound` together and more than `floor`.
struct DivisionRange {
  std::uint32_t bound = 0;  ///< MB/s of all channels together
  std::uint64_t floor = 0;
  std::uint32_t like = 0;  ///< preferred number of channels
  std::uint32_t channels_min = 1;
  std::uint32_t channels_max = 1;
};

/// Divisions that the limits allow, best first: by total bandwidth in steps of 1/64, then by how
/// near the count is to `like`, then by fewer channels.
/// \param widest the most that one channel may have, MB/s
std::vector<Division> DivisionsOf(const DivisionRange& range, const Limits& limits,
                                  std::uint32_t widest);

/// With what channels of one host are looked for. All outlive it.
struct HostTools {
  const RouteTable& table;
  ChannelSearch& search;
  DirectSearch& direct_search;
  Packings& packings;
  const SystemFacts& facts;
  const SearchOptions& options;
};

/// The property to improve, and how.
struct BetterThan {
  const PatternGraph& graph;  ///< as good as is known; its bound is that of the pattern
  std::uint64_t floor = 0;  ///< MB/s of all channels together; only what is more is worth anything
  const Wanted& wanted;
  const Limits& limits;  ///< of the pattern
};

/// Looks for a graph with more bandwidth.
/// \param budget  steps; it is lowered by what was taken
/// \param trace  if not null, what was tried is added
/// \return the first division that can be laid, widened as far as it goes; `than.graph` if there is
/// none
PatternGraph FindBetter(const HostTools& tools, const BetterThan& than, std::int64_t& budget,
                        SearchTrace* search_trace);

/// Steps for all patterns of a host together, beyond what NCCL's search takes: some milliseconds.
inline constexpr std::int64_t kBetterBudget = 96'000;
inline constexpr std::int64_t kQuickBudget = 2'000;  // of steps, before all limits are found

}  // namespace ringlet::plan
