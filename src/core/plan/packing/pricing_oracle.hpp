// Finds the cheapest channel where links have prices: exactly for up to 20 devices, approximately
// for up to 32.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/packing/near_chain.hpp"
#include "plan/routes/nic_selector.hpp"
#include "plan/routes/route_table.hpp"

namespace ringlet::plan {

/// The NICs where a channel may leave, given the NIC where it enters. As SearchStep::cross_nic.
enum class CrossNic : std::uint8_t {
  kSame = 0,
  kAny = 1,
};

/// Each price is 0 to kPriceMax.
struct Prices {
  std::vector<std::int64_t> links;    ///< by link, per unit of ChargeOf()
  std::vector<std::int64_t> in, out;  ///< by port, per kCostUnits unit
};
inline constexpr std::int64_t kPriceMax = std::int64_t{1} << 40;

/// Maximum number of devices for a search over all sets of them.
inline constexpr std::uint32_t kCheapestDevicesMax = 20;
/// Maximum number of devices for a search by prices.
inline constexpr std::uint32_t kNearDevicesMax = 32;

class PricingOracle {
 public:
  /// All reference parameters must outlive this object.
  PricingOracle(RouteTable& table, const NicSelector& nets, bool multi_node);

  /// Number of route additions. A search among many devices counts like one among kFewDevices.
  std::int64_t work() const { return work_; }

  /// Returns true with 2 to kNearDevicesMax devices, and NICs if the channels need them.
  bool usable() const { return usable_; }
  /// Returns true if Find() works: the number of devices allows a search over all sets of them.
  bool exact() const { return devices_ <= kCheapestDevicesMax; }
  bool multi_node() const { return multi_node_; }
  /// With so few devices, a search takes some microseconds. Each further device doubles the sets.
  /// The costs take 4 MiB for 16 devices and 84 MB for 20.
  static constexpr std::uint32_t kFewDevices = 10;
  bool few() const { return devices_ <= kFewDevices; }

  struct PricedChannel {
    std::vector<LocalChannel> channels;  ///< one channel
    /// A lower bound in kCostUnits of the whole bandwidth. The channel costs hardly more than that.
    std::int64_t cost = 0;
  };
  /// Finds the cheapest channel. Ties: the first by number wins.
  /// \param pattern  kRing, kBalancedTree or kTree
  /// \return null if every order of devices lacks a route
  /// Cost    O(2^devices * devices^2), times the number of NICs if crossing is not allowed
  /// Source  Held and Karp, A dynamic programming approach to sequencing problems, 1962
  std::optional<PricedChannel> Find(Pattern pattern, CrossNic crossing, const Prices& prices);
  /// Finds a cheap channel, rarely more than a few percent above the minimum.
  /// \return null if it finds no channel with all routes
  /// Cost    as NearChain, for a few NICs
  std::optional<PricedChannel> FindNear(Pattern pattern, CrossNic crossing, const Prices& prices);

 private:
  /// Scaled so that at least one channel costs less than kFar.
  using Cost = ChainCosts::Cost;
  static constexpr Cost kFar = ChainCosts::kFar;  // 2 * kFar does not overflow

  /// The ends of a channel between its NICs.
  struct Ends {
    std::int64_t cost = 0;
    std::uint32_t entry = 0, exit = 0;  ///< NICs
    std::uint32_t first = 0;            ///< device
    std::uint32_t second = 0;           ///< device; for a balanced tree
  };
  /// The use of a link by a route, in kCostUnits.
  struct ChannelLoad {
    std::uint32_t link = 0;
    std::int32_t amount = 0;
  };
  /// The link loads of the routes between ends of one kind.
  struct ChannelLoads {
    std::vector<ChannelLoad> list;     ///< route after route
    std::vector<std::uint32_t> until;  ///< by route: the end of its entries in `list`
    std::vector<bool> passable;        ///< by route
  };

  void FindLinkLoads();
  void AddLinkLoads(EndIndex from, EndIndex to, std::int64_t part, ChannelLoads& link_loads);
  void PriceRoutes(Pattern pattern, const Prices& prices);
  std::int64_t SomeCost(Pattern pattern) const;
  bool MayPass(std::uint32_t entry, std::uint32_t exit, Pattern pattern, CrossNic crossing) const;
  void Chains(std::uint32_t universe);
  Cost& AtEnd(std::uint32_t last) { return before_[last]; }
  /// The cost of the cheapest chain through a set that begins with `first`, a member of the set.
  Cost Chain(std::uint32_t set, std::uint32_t first) const {
    return before_[(set & ~(1u << first)) * lanes_ + first];
  }
  Cost Between(std::uint32_t from, std::uint32_t to) const { return to_[to * lanes_ + from]; }
  void Follow(std::uint32_t set, std::uint32_t first, std::vector<std::uint32_t>& order) const;
  std::int64_t Unscaled(std::int64_t cost) const { return cost << shift_; }
  std::optional<PricedChannel> FindInside(Pattern pattern);
  std::optional<PricedChannel> FindBeyond(Pattern pattern, CrossNic crossing);
  std::optional<PricedChannel> FindFreely();
  std::uint32_t CheapestNet(const std::vector<Cost>& costs, std::uint32_t device) const;
  std::vector<std::pair<std::int64_t, std::uint32_t>> Exits(Pattern pattern, CrossNic crossing);
  void ChainsTo(Pattern pattern, std::uint32_t exit);
  Ends BestEnds(Pattern pattern, const Cost* in, std::uint32_t exit) const;
  LocalChannel Write(Pattern pattern, const Ends& ends) const;
  /// The ends of a chain. The devices of `begin` are fixed. NearOrder() finds the order of others.
  struct NearEnds {
    std::vector<std::uint32_t> begin;
    std::vector<Cost> head, tail;  ///< cost to enter the rest, and to leave it, by device
    std::int64_t begin_cost = 0;
  };
  /// A choice of NICs, and of a balanced tree's first device, with a lower bound of the cost.
  struct NearChoice {
    std::int64_t at_least = 0;
    std::uint32_t entry = 0, exit = 0, first = 0;
  };
  std::vector<NearChoice> NearChoices(Pattern pattern, CrossNic crossing) const;
  NearEnds NearEndsOf(Pattern pattern, const NearChoice& choice) const;
  NearEnds NearEndsInside(Pattern pattern) const;
  std::pair<std::int64_t, std::vector<std::uint32_t>> NearOrder(const NearEnds& ends);

  RouteTable& table_;
  const NicSelector& nets_;
  const bool multi_node_;
  const std::uint32_t devices_;
  const std::uint32_t lanes_;  // devices_, rounded up to a multiple of the vector width
  bool usable_ = false;
  bool planes_ = false;  // true if some NICs cannot reach each other
  std::int64_t work_ = 0;
  ChannelLoads between_link_loads_, in_link_loads_, out_link_loads_, half_out_link_loads_;
  // In the unit of the prices, by route.
  std::vector<std::int64_t> between_costs_, in_costs_, out_costs_, half_out_costs_;
  int shift_ = 0;                     // scales costs down to Cost
  std::vector<Cost> to_;              // [to][from]
  std::vector<Cost> least_in_;        // by device, through the cheapest NIC
  std::vector<Cost> in_;              // [NIC][device]
  std::vector<Cost> out_, half_out_;  // [NIC][device]
  /// [set][device]: the cost of the cheapest chain from a device through a set of other devices.
  /// For the empty set, the cost to end with the device.
  std::vector<Cost> before_;
};

}  // namespace ringlet::plan
