// The cost of every channel of a pattern, whichever way it takes: sets of links that it passes, how
// often, and the cost of a passage. From these follows how many channels of a bandwidth there can
// be.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/routes/nic_selector.hpp"
#include "plan/routes/route_table.hpp"

namespace ringlet::plan {

/// Costs are counted in this part of a channel's bandwidth, which has 6/5 and 1/8 as whole numbers.
inline constexpr std::int64_t kCostUnits = 40;

/// The extra cost of a channel that uses NICs of a port.
struct PortCost {
  std::int64_t mb_per_s = 0;  ///< of the port
  std::int64_t cost = 0;
  bool operator==(const PortCost&) const = default;
};

/// The least cost of every channel.
struct MinLoad {
  std::int64_t each = 0;
  std::vector<PortCost> in = {};  ///< the cheapest first; empty where ports make no difference
  std::vector<PortCost> out = {};
  bool operator==(const MinLoad&) const = default;
};

/// A set of links, and what all channels take of it.
struct Limit {
  std::vector<std::int64_t> mb_per_s;  ///< of the links, ascending
  std::int64_t cost = kCostUnits;      ///< of one passage of a link, at least
  MinLoad load;                        ///< of all links together, in kCostUnits
  MinLoad passages;                    ///< how many links are passed
  bool operator==(const Limit&) const = default;
};

class Limits {
 public:
  enum class Detail : std::uint8_t {
    kEnds,   ///< NICs and devices only, which are known at once: O(links of devices)
    kLinks,  ///< sets of single links, and links of one kind, too: O(ways * links on a way)
  };

  /// Of systems with more than kLimitsEndsMax devices or NICs only the ends are looked at.
  Limits(RouteTable& table, const NicSelector& nets, GraphId id, bool multi_node,
         Detail detail = Detail::kLinks);

  /// Whether nothing here speaks against that many channels of that bandwidth.
  bool Allow(std::uint32_t channels, std::int64_t mb_per_s) const;
  /// The most that each of so many channels can have; 0: none.
  std::int64_t MostOf(std::uint32_t channels) const;
  /// The most that up to so many channels can have together, at most `at_most`.
  std::int64_t MostOfAll(std::uint32_t channels_max, std::int64_t at_most) const;

  std::span<const Limit> list() const { return list_; }

 private:
  friend class LimitFinder;
  std::int64_t MostOf(std::uint32_t channels, std::int64_t good, std::int64_t bad) const;
  std::int64_t MostAsFluid() const;

  std::vector<Limit> list_;
  std::int64_t widest_;  // of one channel
};

inline constexpr std::uint32_t kLimitsEndsMax = 64;

}  // namespace ringlet::plan
