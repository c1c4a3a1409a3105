// Computes the total bandwidth that channels of a pattern can have, and orders of devices that
// reach it. The method assigns prices to links.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plan/packing/integer_rounding.hpp"
#include "plan/packing/lp_master.hpp"
#include "plan/packing/pricing_oracle.hpp"

namespace ringlet::plan {

/// Amount of work to divide fractions into channels.
enum class Effort : std::uint8_t { kLittle, kSome, kMuch, kMost };
inline constexpr Effort kEfforts[] = {Effort::kLittle, Effort::kSome, Effort::kMuch, Effort::kMost};

/// Channels of one pattern on one host.
///
/// Each full link has a price. In each round, Solve() adds the cheapest channel at these prices. It
/// stops if no new channel is cheaper than the known ones. The value of all links divided by the
/// price of the cheapest channel is an upper bound for all channels together. The bound is exact in
/// integers for any prices. The amounts of channels are fractions. Divide() turns them into a
/// number of equal channels.
/// Cost    limited by the budget; memory O(rows^2 + 2^devices * devices)
/// Source  column generation: Gilmore and Gomory, A linear programming approach to the cutting
///         stock problem, 1961
class Packing {
 public:
  /// All reference parameters must outlive this object.
  /// \param scale  MB/s, the approximate total of the channels
  /// \param budget  approximate number of additions and multiplications; calls subtract their work
  Packing(RouteTable& table, const NicSelector& nets, PricingOracle& cheapest, Pattern pattern,
          CrossNic crossing, std::uint32_t scale, std::int64_t& budget);

  /// Adds channels until their total is within 1/512 of the bound (1/128 for many devices), or the
  /// budget is used up.
  /// \param enough  MB/s: stops as soon as the bound is this low
  /// \return  number of rounds
  std::uint32_t Solve(std::int64_t enough);

  /// Upper bound in MB/s for the total of any channels of this pattern.
  std::int64_t bound() const { return bound_; }

  /// Upper bound in MB/s for the total of equal channels of this pattern. Counts whole channels
  /// only: the rest of a link is worth nothing. Call it after Solve().
  /// \param least  MB/s: lower limit of the result
  std::int64_t BoundOfEqual(std::int64_t least, std::uint32_t channels_max) const;

  struct Divided {
    std::vector<LocalChannel> channels;
    std::int64_t mb_per_s = 0;  ///< of each channel, before rounding up per link; 0: no channels
  };
  /// Computes `channels` equal channels, as wide as it finds. Call it after Solve().
  /// \param least  MB/s: narrower channels are useless
  /// \param most  MB/s: wider channels are not needed
  const Divided& Divide(std::uint32_t channels, std::int64_t least, std::int64_t most,
                        Effort effort);

  /// The share of a link or port in the bound.
  struct ResourceShare {
    std::uint32_t resource = 0;  ///< links, then incoming ports, then outgoing ports
    std::uint32_t per_mille = 0;
  };
  /// The links and ports that prove the bound with their prices, the largest share first. If one of
  /// them gets 1 % faster, the bound rises by its share of 1 % at constant prices. After Solve().
  std::vector<ResourceShare> Shares() const;

  /// Returns true if the budget is used up.
  bool spent() const { return budget_ <= 0; }

  Pattern pattern() const { return pattern_; }
  CrossNic crossing() const { return crossing_; }

 private:
  const Prices& PricesNow();
  template <typename Price>
  const Prices& PricesBy(const Price& price);
  bool UpdateStall();
  void NoMore();
  void StoreScaledPrices(const Prices& prices, std::int64_t cost);
  bool LowerBound(const Prices& prices, const PricingOracle::PricedChannel& found);
  std::optional<PricingOracle::PricedChannel> Cheapest(const Prices& prices, bool near);
  bool Add(PricingOracle::PricedChannel found);
  bool Append(PricingOracle::PricedChannel found);
  std::uint32_t RowOf(std::uint32_t resource);
  std::int64_t Value() const;
  void StoreBoundPrices(const Prices& prices, std::int64_t cost);
  void FindUnits();
  std::int64_t RoomOf(std::uint32_t resource, std::int64_t mb_per_s) const;
  std::vector<std::int64_t> RoomFor(std::int64_t mb_per_s) const;
  void FindRooms(std::int64_t mb_per_s);
  std::int64_t WidthOf(const IntegerRounding& whole) const;
  IntegerRounding Spread(std::uint32_t times, std::int64_t mb_per_s) const;
  const Prices& PricesFor(const IntegerRounding::Rows& rows);
  bool MayFit(std::uint32_t channels, std::int64_t mb_per_s) const;
  std::int64_t WorkFactor() const;
  bool Fit(IntegerRounding& whole, std::int64_t mb_per_s, std::int64_t work_max);
  bool HasChannel(const PricingOracle::PricedChannel& found) const;
  Divided Write(const IntegerRounding& whole) const;

  RouteTable& table_;
  const NicSelector& nets_;
  PricingOracle& cheapest_;
  const Pattern pattern_;
  const CrossNic crossing_;
  const std::int64_t scale_;
  std::vector<std::int64_t> capacities_;  // MB/s by resource: links, incoming ports, outgoing ports
  std::vector<std::int64_t> units_;       // in kCostUnits, by resource
  std::vector<std::uint32_t> row_of_;     // by resource
  std::vector<std::uint32_t> resource_of_;           // by row
  Columns columns_;                                  // the channels found so far
  std::vector<std::vector<LocalChannel>> channels_;  // by column
  Prices prices_;                                    // the prices of the latest round
  std::vector<std::int64_t> rooms_;                  // by resource, from the latest FindRooms()
  std::vector<std::int64_t> taken_;                  // by resource, of the column in Append()
  LpMaster fluid_;
  std::int64_t& budget_;
  bool near_;  // true while Solve() uses FindNear()
  std::int64_t bound_;
  std::int64_t steady_bound_;         // bound, if no channel is cheaper than the known ones
  std::vector<std::int64_t> steady_;  // the prices of steady_bound_, by resource
  std::vector<std::pair<std::uint32_t, std::int64_t>> worth_;  // resources and prices behind bound_
  std::int64_t worth_cost_ = 0;  // cost of the cheapest column at these prices
  std::int64_t ask_credit_ = 0;  // work left to find further channels
  bool solved_ = false;
  bool smooth_ = false;        // true if the next prices are smoothed
  std::uint32_t stalled_ = 0;  // rounds since the gap became smaller
  std::int64_t gap_ = 0;       // MB/s between value and bound
  static constexpr std::int64_t kNeverFailed = std::numeric_limits<std::int64_t>::max();
  struct KnownPacking {
    Divided divided;
    std::int64_t failed = kNeverFailed;  // smallest MB/s that failed, with `effort`
    Effort effort = Effort::kLittle;
  };
  std::vector<KnownPacking> known_;  // by number of channels
};

/// Budget of all packings of rings of a host, and of all packings of trees: some milliseconds.
inline constexpr std::int64_t kPackingBudget = 4'000'000;
/// An additional budget for rings that stay far below the bound.
inline constexpr std::int64_t kPackingGrant = 10'000'000;

/// Factor of the budget with more than PricingOracle::kFewDevices devices, because these have more
/// links and orders. Reason: docs/decisions/0040.
inline constexpr std::int64_t kManyDevicesFactor = 96;

/// The packings of one host. Each is created on first use.
class Packings {
 public:
  /// All reference parameters must outlive this object.
  Packings(RouteTable& table, const NicSelector& nets, bool multi_node)
      : table_(table),
        nets_(nets),
        multi_node_(multi_node),
        cheapest_(table, nets, multi_node),
        admitted_(cheapest_.few()) {
    if (cheapest_.few()) return;
    of_rings_ *= kManyDevicesFactor;
    of_trees_ *= kManyDevicesFactor;
  }

  bool usable() const { return admitted_ && cheapest_.usable(); }
  bool few() const { return cheapest_.few(); }
  /// Allows packings on hosts of more than a few devices. Call it if no quicker method has reached
  /// the bound.
  /// \return false if packings are allowed already, or are not usable
  bool Admit() {
    if (admitted_ || !cheapest_.usable()) return false;
    return admitted_ = true;
  }
  /// Adds kPackingGrant to the budget of rings, once.
  void Grant() {
    if (!granted_) of_rings_ += kPackingGrant;
    granted_ = true;
  }
  /// \param scale  MB/s, the approximate total of the channels; only the first call uses it
  Packing& Of(Pattern pattern, CrossNic crossing, std::uint32_t scale);
  /// Upper bound in MB/s for the total of any channels of a ring or tree.
  /// \param enough  MB/s: stops as soon as the bound is this low
  /// \param bound  MB/s: the best bound so far
  std::int64_t BoundOf(GraphId id, std::int64_t enough, std::uint32_t bound);
  /// Upper bound in MB/s for the total of at most kSearchChannelsMax equal channels.
  /// \param least  MB/s: a total that existing channels reach
  /// \param bound  MB/s: the best bound so far
  std::int64_t BoundOfEqual(GraphId id, std::int64_t least, std::uint32_t bound);

 private:
  template <typename BoundOfOne>
  std::int64_t MostOf(GraphId id, std::uint32_t bound, const BoundOfOne& bound_of_one);

  RouteTable& table_;
  const NicSelector& nets_;
  const bool multi_node_;
  PricingOracle cheapest_;
  std::int64_t of_rings_ = kPackingBudget, of_trees_ = kPackingBudget;
  bool granted_ = false;
  bool admitted_;
  std::vector<std::unique_ptr<Packing>> made_;  // pointers, so that references stay valid
};

}  // namespace ringlet::plan
