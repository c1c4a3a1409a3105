// The channel that costs least where links have prices: exact, for hosts of up to 20 devices; of up
// to 32 one that costs little.
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

/// By which NICs a channel may leave, given the one by which it came in. As SearchStep::cross_nic.
enum class Crossing : std::uint8_t {
  kSame = 0,
  kAny = 1,
};

/// Not negative, at most kPriceMax.
struct Prices {
  std::vector<std::int64_t> links;    ///< by link, of what ChargeOf counts
  std::vector<std::int64_t> in, out;  ///< of kCostUnits, by port
};
inline constexpr std::int64_t kPriceMax = std::int64_t{1} << 40;

/// Of more devices not all sets are looked at.
inline constexpr std::uint32_t kCheapestDevicesMax = 20;
/// Of more devices no channels are looked for by prices.
inline constexpr std::uint32_t kNearDevicesMax = 32;

class PricingOracle {
 public:
  /// All outlive this.
  PricingOracle(RouteTable& table, const NicSelector& nets, bool multi_node);

  /// Ways added up so far; of many devices, in what a look among `kFewDevices` takes.
  std::int64_t work() const { return work_; }

  /// More than one device, and NICs where they are needed, but not too many to look for channels.
  bool usable() const { return usable_; }
  /// Few enough devices to look at all sets of them.
  bool exact() const { return devices_ <= kCheapestDevicesMax; }
  bool multi_node() const { return multi_node_; }
  /// So few devices that a look takes some microseconds. Each device more doubles the sets: 4 MiB
  /// of costs among 16, 84 MB among 20.
  static constexpr std::uint32_t kFewDevices = 10;
  bool few() const { return devices_ <= kFewDevices; }

  struct PricedChannel {
    std::vector<LocalChannel> channels;  ///< one
    /// kCostUnits being the whole bandwidth. No channel costs less, and this one hardly more.
    std::int64_t cost = 0;
  };
  /// Of all channels the cheapest; among equals the first by number.
  /// \param pattern  kRing, kBalancedTree or kTree
  /// \return nothing if no order of devices has all ways
  /// Cost    O(2^devices * devices^2), for each NIC where they may not be crossed
  /// Source  Held and Karp, A dynamic programming approach to sequencing problems, 1962
  std::optional<PricedChannel> Find(Pattern pattern, Crossing crossing, const Prices& prices);
  /// One that costs little, and hardly ever more than a few hundredths above the least.
  /// \return nothing if none is found that has all ways
  /// Cost    as NearChain, for a few NICs
  std::optional<PricedChannel> FindNear(Pattern pattern, Crossing crossing, const Prices& prices);

 private:
  /// In parts that Find chooses: of all channels at least one costs less than kFar.
  using Cost = ChainCosts::Cost;
  static constexpr Cost kFar = ChainCosts::kFar;  // two of it are no overflow

  /// Between a NIC by which a channel comes in and one by which it leaves.
  struct Ends {
    std::int64_t cost = 0;
    std::uint32_t entry = 0, exit = 0;  ///< NICs
    std::uint32_t first = 0;            ///< device
    std::uint32_t second = 0;           ///< of a balanced tree
  };
  /// The use of a link by a way, in kCostUnits.
  struct ChannelLoad {
    std::uint32_t link = 0;
    std::int32_t amount = 0;
  };
  /// Of ways between ends of one kind.
  struct ChannelLoads {
    std::vector<ChannelLoad> list;     ///< of one way after the other
    std::vector<std::uint32_t> until;  ///< of each way, in the list
    std::vector<bool> passable;        ///< by way
  };

  void FindLinkLoads();
  void AddLinkLoads(EndIndex from, EndIndex to, std::int64_t part, ChannelLoads& link_loads);
  void PriceRoutes(Pattern pattern, const Prices& prices);
  std::int64_t SomeCost(Pattern pattern) const;
  bool MayPass(std::uint32_t entry, std::uint32_t exit, Pattern pattern, Crossing crossing) const;
  void Chains(std::uint32_t universe);
  Cost& AtEnd(std::uint32_t last) { return before_[last]; }
  /// The cost of the cheapest chain of a set that begins at one of it.
  Cost Chain(std::uint32_t set, std::uint32_t first) const {
    return before_[(set & ~(1u << first)) * lanes_ + first];
  }
  Cost Between(std::uint32_t from, std::uint32_t to) const { return to_[to * lanes_ + from]; }
  void Follow(std::uint32_t set, std::uint32_t first, std::vector<std::uint32_t>& order) const;
  std::int64_t Unscaled(std::int64_t cost) const { return cost << shift_; }
  std::optional<PricedChannel> FindInside(Pattern pattern);
  std::optional<PricedChannel> FindBeyond(Pattern pattern, Crossing crossing);
  std::optional<PricedChannel> FindFreely();
  std::uint32_t CheapestNet(const std::vector<Cost>& costs, std::uint32_t device) const;
  std::vector<std::pair<std::int64_t, std::uint32_t>> Exits(Pattern pattern, Crossing crossing);
  void ChainsTo(Pattern pattern, std::uint32_t exit);
  Ends BestEnds(Pattern pattern, const Cost* in, std::uint32_t exit) const;
  LocalChannel Write(Pattern pattern, const Ends& ends) const;
  /// A chain through all devices but those that begin it, which cost `head` with the first of it.
  struct NearEnds {
    std::vector<std::uint32_t> begin;
    std::vector<Cost> head, tail;  ///< by device
    std::int64_t begin_cost = 0;
  };
  /// NICs, and the first device of a balanced tree, by what they cost at least.
  struct NearChoice {
    std::int64_t at_least = 0;
    std::uint32_t entry = 0, exit = 0, first = 0;
  };
  std::vector<NearChoice> NearChoices(Pattern pattern, Crossing crossing) const;
  NearEnds NearEndsOf(Pattern pattern, const NearChoice& choice) const;
  NearEnds NearEndsInside(Pattern pattern) const;
  std::pair<std::int64_t, std::vector<std::uint32_t>> NearOrder(const NearEnds& ends);

  RouteTable& table_;
  const NicSelector& nets_;
  const bool multi_node_;
  const std::uint32_t devices_;
  const std::uint32_t lanes_;  // devices_ or some more
  bool usable_ = false;
  bool planes_ = false;  // some NICs do not reach each other
  std::int64_t work_ = 0;
  ChannelLoads between_link_loads_, in_link_loads_, out_link_loads_, half_out_link_loads_;
  // In what prices are in: by ways.
  std::vector<std::int64_t> between_costs_, in_costs_, out_costs_, half_out_costs_;
  int shift_ = 0;                     // of costs, to what follows
  std::vector<Cost> to_;              // [device][device from which]
  std::vector<Cost> least_in_;        // by any NIC: [device]
  std::vector<Cost> in_;              // [NIC][device]
  std::vector<Cost> out_, half_out_;  // [NIC][device]
  /// The cost of a chain from a device on, through a set of others: [set][device]. Through none:
  /// what it costs to end there.
  std::vector<Cost> before_;
};

}  // namespace ringlet::plan
