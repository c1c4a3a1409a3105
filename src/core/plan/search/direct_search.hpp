// Places channels without backtracking. Each NIC and each next device is the one with most
// bandwidth left.
//
// If an NVSwitch joins all devices, every order of devices is equally good. The search then chooses
// NICs and their nearest devices only. Otherwise the next device is the cheapest one.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/channels/search_step.hpp"
#include "plan/routes/nic_selector.hpp"
#include "plan/routes/route_table.hpp"

namespace ringlet::plan {

/// The price of links while the search places channels.
enum class Pricing : std::uint8_t {
  kScarce,   ///< a link costs more the less bandwidth it has left
  kScarcer,  ///< like kScarce, but steeper
  kEven,     ///< all links cost the same
};
inline constexpr Pricing kPricings[] = {Pricing::kScarce, Pricing::kScarcer, Pricing::kEven};

class DirectSearch {
 public:
  /// All reference parameters must outlive this object.
  DirectSearch(RouteTable& table, const NicSelector& nets, bool multi_node);

  /// Returns true if an NVSwitch joins all devices. A further search is then unnecessary.
  bool any_order() const { return any_order_; }
  /// Returns true if the class can place rings and trees in this system.
  bool lays() const { return lays_; }

  /// The highest bandwidth in MB/s, at most `most`, that each of the existing channels can have.
  /// \param graph  a ring or a tree
  std::uint32_t WidthOf(const PatternGraph& graph, std::uint32_t most);

  /// Places search_step.max_channels channels, each where it obstructs others least.
  /// \param search_step  a ring, or a tree that is not split
  /// \param found  receives the channels if there is room for all
  StepOutcome PlaceChannels(const SearchStep& search_step, Pricing pricing, PatternGraph& found);

 private:
  /// A route in use, and its bandwidth.
  struct ReservedRoute {
    EndIndex from, to;
    std::int64_t mb_per_s = 0;
  };
  /// A device near a NIC, or a NIC.
  struct ExitChoice {
    std::uint32_t number = 0;
    std::int64_t cost = 0;
  };

  bool PlaceChannel();
  void Clear();
  void ClearLeft();
  bool PlaceFrom(std::uint32_t first, std::optional<std::uint32_t> other);
  bool PlaceCheapestFirst(std::uint32_t first, std::optional<std::uint32_t> other);
  void AddLoad(const LocalChannel& channel, std::int64_t times);
  bool HasRoomFor(const PatternGraph& graph, std::int64_t mb_per_s);
  bool PlaceByNics();
  bool Returns() const;
  std::optional<ExitChoice> Nearest(std::uint32_t net, bool inward, std::int64_t mb_per_s,
                                    std::optional<std::uint32_t> not_this);
  std::optional<ExitChoice> ExitFor(std::uint32_t entry, std::uint32_t device,
                                    std::int64_t mb_per_s);
  std::optional<std::int64_t> ReserveEnds(std::uint32_t net);
  std::int64_t CostOf(const Route& route, std::int64_t mb_per_s) const;
  bool Take(EndIndex from, EndIndex to, std::int64_t mb_per_s);
  void ReleaseRoutesFrom(std::size_t until);
  void Price(const Route& route);
  std::int64_t PriceOf(std::uint32_t link) const;
  void Save(PatternGraph& found);

  RouteTable& table_;
  const NicSelector& nets_;
  const bool multi_node_;
  bool any_order_ = false;
  bool lays_ = false;
  bool priced_ = true;  // true if costs affect a choice
  Residual residual_;
  std::vector<std::int64_t> price_;               // of 1 MB/s, by link
  std::vector<std::int64_t> in_left_, out_left_;  // by port
  std::vector<ReservedRoute> taken_;
  SearchStep search_step_;
  Pricing pricing_ = Pricing::kScarce;
  StepOutcome outcome_;
  LocalChannel channel_;
  std::vector<bool> visited_;
  std::vector<std::int64_t> load_;                // by link
  bool exact_ = true;                             // true if load_ contains no rounded value
  std::vector<std::int64_t> in_load_, out_load_;  // by port, in channels
  std::vector<LocalChannel> channels_;
};

/// Values of SearchStep::cross_nic for DirectSearch.
inline constexpr std::uint8_t kCrossNicSame = 0;
inline constexpr std::uint8_t kCrossNicAny = 1;
inline constexpr std::uint8_t kCrossNicPairs = 2;

}  // namespace ringlet::plan
