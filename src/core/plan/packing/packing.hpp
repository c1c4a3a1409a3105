// How much bandwidth channels of a pattern can have together, and which orders of devices share the
// links so: found by prices of links.
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

/// How much is tried where fractions are divided into channels.
enum class Effort : std::uint8_t { kLittle, kSome, kMuch, kMost };
inline constexpr Effort kEfforts[] = {Effort::kLittle, Effort::kSome, Effort::kMuch, Effort::kMost};

/// Channels of one pattern on one host.
///
/// A channel pays for links that are full; the channel that is cheapest then is taken in, until
/// none is cheaper than those there are. The price of all links, divided by the price of the
/// cheapest channel, is more than any channels can have together: that is the bound, exact in
/// integers whatever the prices are. How much of each channel there is are fractions; Divide makes
/// some equal channels of them.
/// Cost    bounded by the budget; memory O(rows^2 + 2^devices * devices)
/// Source  column generation: Gilmore and Gomory, A linear programming approach to the cutting
///         stock problem, 1961
class Packing {
 public:
  /// All outlive this.
  /// \param scale  MB/s, about what channels have together
  /// \param budget  of additions and multiplications, about; what is done is taken off
  Packing(RouteTable& table, const NicSelector& nets, PricingOracle& cheapest, Pattern pattern,
          Crossing crossing, std::uint32_t scale, std::int64_t& budget);

  /// Looks for channels until what they have is as good as the bound, but for a 512th (among many
  /// devices a 128th), or the budget is spent.
  /// \param enough  MB/s: nothing is looked for once the bound is as low
  /// \return  channels looked for
  std::uint32_t Solve(std::int64_t enough);

  /// MB/s that no channels of this pattern exceed together.
  std::int64_t bound() const { return bound_; }

  /// MB/s that no equal channels of this pattern exceed together, whole as they are: what is left
  /// of a link beside them is worth nothing. After Solve. \param least  MB/s: less is not told
  std::int64_t BoundOfEqual(std::int64_t least, std::uint32_t channels_max) const;

  struct Divided {
    std::vector<LocalChannel> channels;
    std::int64_t mb_per_s = 0;  ///< of each, but for what is rounded up link by link; 0: none
  };
  /// So many equal channels, after Solve: as wide as is found.
  /// \param least  MB/s: less is not worth anything
  /// \param most  MB/s: more is not asked for
  const Divided& Divide(std::uint32_t channels, std::int64_t least, std::int64_t most,
                        Effort effort);

  /// The part of the bound that a link or port stands for.
  struct ResourceShare {
    std::uint32_t resource = 0;  ///< a link; then ports in; then ports out
    std::uint32_t per_mille = 0;
  };
  /// Links and ports whose prices prove the bound, those that stand for most first: with a
  /// hundredth more of one the bound rises by its share of a hundredth, as long as prices hold.
  /// After Solve.
  std::vector<ResourceShare> Shares() const;

  /// Whether the budget is.
  bool spent() const { return budget_ <= 0; }

  Pattern pattern() const { return pattern_; }
  Crossing crossing() const { return crossing_; }

 private:
  const Prices& PricesNow();
  template <typename Price>
  const Prices& PricesBy(const Price& price);
  bool Stalls();
  void NoMore();
  void KeepSteady(const Prices& prices, std::int64_t cost);
  bool LowerBound(const Prices& prices, const PricingOracle::PricedChannel& found);
  std::optional<PricingOracle::PricedChannel> Cheapest(const Prices& prices, bool near);
  bool Add(PricingOracle::PricedChannel found);
  bool Append(PricingOracle::PricedChannel found);
  std::uint32_t RowOf(std::uint32_t resource);
  std::int64_t Value() const;
  void KeepWorth(const Prices& prices, std::int64_t cost);
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
  bool Knows(const PricingOracle::PricedChannel& found) const;
  Divided Write(const IntegerRounding& whole) const;

  RouteTable& table_;
  const NicSelector& nets_;
  PricingOracle& cheapest_;
  const Pattern pattern_;
  const Crossing crossing_;
  const std::int64_t scale_;
  std::vector<std::int64_t> capacities_;    // MB/s, by resource: links, ports in, ports out
  std::vector<std::int64_t> units_;         // of kCostUnits, by resource
  std::vector<std::uint32_t> row_of_;       // by resource
  std::vector<std::uint32_t> resource_of_;  // by row
  Columns columns_;                         // channels that come together
  std::vector<std::vector<LocalChannel>> channels_;  // by column
  Prices prices_;                                    // the latest
  std::vector<std::int64_t> rooms_;                  // by resource, of the latest FindRooms
  std::vector<std::int64_t> taken_;                  // by resource, of the column that is added
  LpMaster fluid_;
  std::int64_t& budget_;
  bool near_;  // Solve looks for channels that cost little
  std::int64_t bound_;
  std::int64_t steady_bound_;         // if none costs less than those that were found
  std::vector<std::int64_t> steady_;  // prices of that, by resource; what is full has none
  std::vector<std::pair<std::uint32_t, std::int64_t>> worth_;  // by resource, of bound_
  std::int64_t worth_cost_ = 0;                                // of the cheapest column, then
  std::int64_t ask_credit_ = 0;                                // of work on other channels
  bool solved_ = false;
  bool smooth_ = false;        // the next prices
  std::uint32_t stalled_ = 0;  // rounds since the gap became smaller
  std::int64_t gap_ = 0;       // MB/s, between value and bound
  static constexpr std::int64_t kNeverFailed = std::numeric_limits<std::int64_t>::max();
  struct KnownPacking {
    Divided divided;
    std::int64_t failed = kNeverFailed;  // MB/s, with that effort
    Effort effort = Effort::kLittle;
  };
  std::vector<KnownPacking> known_;  // by channels
};

/// For all packings of rings, or of trees, of a host together: some milliseconds.
inline constexpr std::int64_t kPackingBudget = 4'000'000;
/// For rings, too, where much is missing of the bound.
inline constexpr std::int64_t kPackingGrant = 10'000'000;

/// Of more than PricingOracle::kFewDevices there are more links and orders: so many times that.
/// Times of plans: docs/decisions/0098.
inline constexpr std::int64_t kManyDevicesFactor = 96;

/// The packings of one host, each made when it is first asked for.
class Packings {
 public:
  /// All outlive this.
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
  /// Whether hosts of more than a few devices are packed from now on: where nothing quicker has
  /// reached the bound.
  /// \return false if they are already, or never will be
  bool Admit() {
    if (admitted_ || !cheapest_.usable()) return false;
    return admitted_ = true;
  }
  /// Adds kPackingGrant to what rings have, once.
  void Grant() {
    if (!granted_) of_rings_ += kPackingGrant;
    granted_ = true;
  }
  /// \param scale  MB/s, about what channels have together; of the first call
  Packing& Of(Pattern pattern, Crossing crossing, std::uint32_t scale);
  /// MB/s that no channels of a ring or a tree exceed together.
  /// \param enough  MB/s: nothing is looked for once the bound is as low
  /// \param bound  MB/s, known so far
  std::int64_t BoundOf(GraphId id, std::int64_t enough, std::uint32_t bound);
  /// MB/s that no kSearchChannelsMax or fewer equal channels exceed together.
  /// \param least  MB/s: there are channels that have it
  /// \param bound  MB/s, known so far
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
  std::vector<std::unique_ptr<Packing>> made_;  // they stay where they are
};

}  // namespace ringlet::plan
