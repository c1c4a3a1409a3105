// Limits on the channels of a pattern. A limit is a set of links that every channel crosses, with
// the minimum number of crossings and the minimum cost of one. It bounds the number of channels.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/routes/nic_selector.hpp"
#include "plan/routes/route_table.hpp"

namespace ringlet::plan {

/// Number of cost units in a channel's bandwidth. 6/5 and 1/8 of it are whole numbers.
inline constexpr std::int64_t kCostUnits = 40;

/// The extra cost of a channel that uses NICs of a port.
struct PortCost {
  std::int64_t mb_per_s = 0;  ///< bandwidth of the port
  std::int64_t cost = 0;
  bool operator==(const PortCost&) const = default;
};

/// The minimum cost of every channel.
struct MinLoad {
  std::int64_t each = 0;
  std::vector<PortCost> in = {};  ///< the cheapest first; empty if all ports cost the same
  std::vector<PortCost> out = {};
  bool operator==(const MinLoad&) const = default;
};

/// A set of links and the minimum use of it by every channel.
struct Limit {
  std::vector<std::int64_t> mb_per_s;  ///< of each link, ascending
  std::int64_t cost = kCostUnits;      ///< minimum cost of one crossing of a link
  MinLoad load;                        ///< use of all links together, in kCostUnits
  MinLoad passages;                    ///< number of links that a channel crosses
  bool operator==(const Limit&) const = default;
};

class Limits {
 public:
  enum class Detail : std::uint8_t {
    kEnds,   ///< only NICs and devices, which are cheap to find: O(links of devices)
    kLinks,  ///< also sets of single links, and links of one kind: O(routes * links of a route)
  };

  /// Systems with more than kLimitsEndsMax devices or NICs get Detail::kEnds.
  Limits(RouteTable& table, const NicSelector& nets, GraphId id, bool multi_node,
         Detail detail = Detail::kLinks);

  /// Returns true if no limit excludes so many such channels. They may still not exist.
  bool Allow(std::uint32_t channels, std::int64_t mb_per_s) const;
  /// Upper bound for the bandwidth of each of `channels` channels. 0: the limits allow none.
  std::int64_t MostOf(std::uint32_t channels) const;
  /// Upper bound for the total bandwidth of up to `channels_max` channels, at most `at_most`.
  std::int64_t TotalBandwidthBound(std::uint32_t channels_max, std::int64_t at_most) const;

  std::span<const Limit> list() const { return list_; }

 private:
  friend class LimitFinder;
  std::int64_t MostOf(std::uint32_t channels, std::int64_t good, std::int64_t bad) const;
  std::int64_t MostAsFluid() const;

  std::vector<Limit> list_;
  std::int64_t widest_;  // upper bound for one channel
};

inline constexpr std::uint32_t kLimitsEndsMax = 64;

}  // namespace ringlet::plan
