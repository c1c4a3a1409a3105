// How much bandwidth channels of a pattern can have together, and which orders of devices share the
// links so: found by prices of links.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/cheapest_channel.hpp"
#include "plan/fluid_packing.hpp"

namespace ringlet::plan {

/// How much is tried where fractions are divided into channels.
enum class Care : std::uint8_t {
  kSome,  ///< channels are exchanged for others that are known
  kMuch,  ///< and laid anew
};

/// Channels of one pattern on one host.
///
/// Whoever has links that are full pays for them; the channel that is cheapest then is taken in,
/// until none is cheaper than those there are. What all links are worth, divided by what the
/// cheapest channel pays, is more than any channels can have together: that is the bound, exact
/// in integers whatever the prices are. How much of each channel there is are fractions; Divide
/// makes some equal channels of them.
/// Cost    bounded by the budget; memory O(rows^2 + 2^devices * devices)
/// Source  column generation: Gilmore and Gomory, A linear programming approach to the cutting
///         stock problem, 1961
class Packing {
 public:
  /// All outlive this.
  /// \param scale  MB/s, about what channels have together
  /// \param budget  of additions and multiplications, about; what is done is taken off
  Packing(WayTable& table, const NetChoice& nets, CheapestChannel& cheapest, Pattern pattern,
          Crossing crossing, std::uint32_t scale, std::int64_t& budget);

  /// Looks for channels until what they have is as good as the bound, but for a 512th, or the
  /// budget is spent.
  /// \param enough  MB/s: nothing is looked for once the bound is as low
  /// \return  channels looked for
  std::uint32_t Solve(std::int64_t enough);

  /// MB/s that no channels of this pattern exceed together.
  std::int64_t bound() const { return bound_; }

  struct Divided {
    std::vector<LocalChannel> channels;
    std::int64_t mb_per_s = 0;  ///< of each, but for what is rounded up link by link; 0: none
  };
  /// So many equal channels, after Solve; found once.
  const Divided& Divide(std::uint32_t channels, Care care);

  Pattern pattern() const { return pattern_; }
  Crossing crossing() const { return crossing_; }

 private:
  /// Channels that come together, and what they take.
  struct Column {
    std::vector<LocalChannel> channels;
    std::vector<FluidPacking::Need> needs;  // by row, in kCostUnits
  };
  class Choice;

  Prices PricesNow() const;
  template <typename Price>
  Prices PricesBy(const Price& price) const;
  bool LowerBound(const Prices& prices, const CheapestChannel::Found& found);
  std::optional<CheapestChannel::Found> Cheapest(const Prices& prices);
  bool Add(CheapestChannel::Found found);
  bool Append(CheapestChannel::Found found);
  std::uint32_t RowOf(std::uint32_t resource);
  std::int64_t Value() const;
  std::int64_t InverseOf(std::uint32_t resource) const;
  void Spread(std::uint32_t times, Choice& choice) const;
  void LayAnew(Choice& choice);
  Prices PricesFor(const Choice& choice, std::int64_t fullest) const;
  std::uint32_t ColumnOf(CheapestChannel::Found found);
  Divided Write(const Choice& choice) const;

  WayTable& table_;
  const NetChoice& nets_;
  CheapestChannel& cheapest_;
  const Pattern pattern_;
  const Crossing crossing_;
  const std::int64_t scale_;
  const std::uint32_t weight_;              // channels of a column
  std::vector<std::int64_t> capacities_;    // MB/s, by resource: links, ports in, ports out
  std::vector<std::uint32_t> row_of_;       // by resource
  std::vector<std::uint32_t> resource_of_;  // by row
  std::vector<Column> columns_;
  FluidPacking fluid_;
  std::int64_t& budget_;
  std::int64_t bound_;
  bool solved_ = false;
  struct Known {
    Divided divided;
    std::optional<Care> care = {};
  };
  std::vector<Known> known_;  // by channels
};

/// For all packings of rings, or of trees, of a host together: some milliseconds.
inline constexpr std::int64_t kPackingBudget = 4'000'000;

/// The packings of one host, each made when it is first asked for.
class Packings {
 public:
  /// All outlive this.
  Packings(WayTable& table, const NetChoice& nets, bool beyond)
      : table_(table), nets_(nets), beyond_(beyond), cheapest_(table, nets, beyond) {}

  bool usable() const { return cheapest_.usable(); }
  /// \param scale  MB/s, about what channels have together; of the first call
  Packing& Of(Pattern pattern, Crossing crossing, std::uint32_t scale);
  /// MB/s that no channels of a ring or a tree exceed together.
  /// \param enough  MB/s: nothing is looked for once the bound is as low
  /// \param bound  MB/s, known so far
  std::int64_t BoundOf(GraphId id, std::int64_t enough, std::uint32_t bound);

 private:
  WayTable& table_;
  const NetChoice& nets_;
  const bool beyond_;
  CheapestChannel cheapest_;
  std::int64_t of_rings_ = kPackingBudget, of_trees_ = kPackingBudget;
  std::vector<std::unique_ptr<Packing>> made_;  // they stay where they are
};

}  // namespace ringlet::plan
