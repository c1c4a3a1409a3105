// The channel that costs least where links have prices: exact, for hosts of few devices.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plan/net_choice.hpp"
#include "plan/pattern_graph.hpp"
#include "plan/way_table.hpp"

namespace ringlet::plan {

/// By which NICs a channel may leave, given the one by which it came in. As Trial::cross_nic.
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

class CheapestChannel {
 public:
  /// All outlive this.
  CheapestChannel(WayTable& table, const NetChoice& nets, bool beyond);

  /// Ways added up so far.
  std::int64_t work() const { return work_; }

  /// More than one device, few enough to look at all sets of them, and NICs where they are needed.
  bool usable() const { return usable_; }

  struct Found {
    std::vector<LocalChannel> channels;  ///< one
    std::int64_t cost = 0;               ///< kCostUnits being the whole bandwidth
  };
  /// Of all channels the cheapest; among equals the first by number.
  /// \param pattern  kRing, kBalancedTree or kTree
  /// \return nothing if no order of devices has all ways
  /// Cost    O(2^devices * devices^2), for each NIC where they may not be crossed
  /// Source  Held and Karp, A dynamic programming approach to sequencing problems, 1962
  std::optional<Found> Find(Pattern pattern, Crossing crossing, const Prices& prices);

 private:
  /// Between a NIC by which a channel comes in and one by which it leaves.
  struct Ends {
    std::int64_t cost = 0;
    std::uint32_t first = 0;   ///< device
    std::uint32_t second = 0;  ///< of a balanced tree
  };

  void PriceWays(const Prices& prices);
  std::int64_t CostOf(EndIndex from, EndIndex to, std::int64_t part, const Prices& prices);
  bool MayPass(std::uint32_t entry, std::uint32_t exit, Pattern pattern, Crossing crossing) const;
  void Chains(std::uint32_t universe, const std::vector<std::int64_t>& at_end);
  std::int64_t& Chain(std::uint32_t set, std::uint32_t first) {
    return chains_[set * devices_ + first];
  }
  std::int64_t Between(std::uint32_t from, std::uint32_t to) const {
    return between_[from * devices_ + to];
  }
  void Follow(std::uint32_t set, std::uint32_t first, std::vector<std::uint32_t>& order);
  std::optional<Found> FindInside(Pattern pattern);
  std::optional<Found> FindBeyond(Pattern pattern, Crossing crossing);
  std::optional<Found> FindFreely();
  std::uint32_t CheapestNet(const std::vector<std::int64_t>& costs, std::uint32_t device) const;
  std::vector<std::pair<std::int64_t, std::uint32_t>> Exits(Pattern pattern, Crossing crossing);
  void ChainsTo(Pattern pattern, std::uint32_t exit);
  Ends BestEnds(Pattern pattern, std::uint32_t entry, std::uint32_t exit);
  LocalChannel Write(Pattern pattern, std::uint32_t entry, std::uint32_t exit);

  WayTable& table_;
  const NetChoice& nets_;
  const bool beyond_;
  const std::uint32_t devices_;
  bool usable_ = false;
  bool planes_ = false;  // some NICs do not reach each other
  std::int64_t work_ = 0;
  std::vector<std::int64_t> between_;         // [device][device]
  std::vector<std::int64_t> in_;              // [NIC][device]
  std::vector<std::int64_t> out_, half_out_;  // [NIC][device]
  std::vector<std::int64_t> chains_;          // [set of devices][first of it]
  std::vector<std::int64_t> at_end_;          // [device]
};

/// Of more devices not all sets are looked at.
inline constexpr std::uint32_t kCheapestDevicesMax = 10;

}  // namespace ringlet::plan
