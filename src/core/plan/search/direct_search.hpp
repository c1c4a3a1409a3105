// Channels without going back: each NIC, and each device after another, where most is left.
//
// If an NVSwitch joins all devices any order of these is as good as another, so that only NICs and
// the devices next to them are chosen. Elsewhere the next device is the one that costs least.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/channels/search_step.hpp"
#include "plan/routes/nic_selector.hpp"
#include "plan/routes/route_table.hpp"

namespace ringlet::plan {

/// The scarce resource while channels are laid.
enum class Pricing : std::uint8_t {
  kScarce,   ///< a link costs more the less it has left
  kScarcer,  ///< and much more
  kEven,     ///< all links cost the same
};
inline constexpr Pricing kPricings[] = {Pricing::kScarce, Pricing::kScarcer, Pricing::kEven};

class DirectSearch {
 public:
  /// All outlive this.
  DirectSearch(RouteTable& table, const NicSelector& nets, bool multi_node);

  /// Whether an NVSwitch joins all devices: then nothing else need be searched.
  bool any_order() const { return any_order_; }
  /// Whether it can lay rings and trees in this system at all.
  bool lays() const { return lays_; }

  /// The most that those channels can have each, where they are. MB/s
  /// \param graph  a ring or a tree
  std::uint32_t WidthOf(const PatternGraph& graph, std::uint32_t most);

  /// Lays search_step.max_channels channels, each where it is in the way of others least.
  /// \param search_step  a ring, or a tree that is not split
  /// \param found  gets them, if there is room for all
  StepOutcome Lay(const SearchStep& search_step, Pricing pricing, PatternGraph& found);

 private:
  /// A way that is taken, and how much of it.
  struct Taken {
    EndIndex from, to;
    std::int64_t mb_per_s = 0;
  };
  /// A device next to a NIC, or a NIC.
  struct ExitChoice {
    std::uint32_t number = 0;
    std::int64_t cost = 0;
  };

  bool LayChannel();
  void Clear();
  void ClearLeft();
  bool LayFrom(std::uint32_t first, std::optional<std::uint32_t> other);
  bool LayAlong(std::uint32_t first, std::optional<std::uint32_t> other);
  void AddLoad(const LocalChannel& channel, std::int64_t times);
  bool HasRoomFor(const PatternGraph& graph, std::int64_t mb_per_s);
  bool LayByNics();
  bool Returns() const;
  std::optional<ExitChoice> Nearest(std::uint32_t net, bool inward, std::int64_t mb_per_s,
                                    std::optional<std::uint32_t> not_this);
  std::optional<ExitChoice> ExitFor(std::uint32_t entry, std::uint32_t device,
                                    std::int64_t mb_per_s);
  std::optional<std::int64_t> TakeEnds(std::uint32_t net);
  std::int64_t CostOf(const Route& route, std::int64_t mb_per_s) const;
  bool Take(EndIndex from, EndIndex to, std::int64_t mb_per_s);
  void GiveBack(std::size_t until);
  void Price(const Route& route);
  std::int64_t PriceOf(std::uint32_t link) const;
  void Save(PatternGraph& found);

  RouteTable& table_;
  const NicSelector& nets_;
  const bool multi_node_;
  bool any_order_ = false;
  bool lays_ = false;
  bool priced_ = true;  // something is chosen by what it costs
  Residual residual_;
  std::vector<std::int64_t> price_;  // of 1 MB/s, by link: the dearer, the less is left
  std::vector<std::int64_t> in_left_, out_left_;  // by port
  std::vector<Taken> taken_;
  SearchStep search_step_;
  Pricing pricing_ = Pricing::kScarce;
  StepOutcome outcome_;
  LocalChannel channel_;
  std::vector<bool> visited_;
  std::vector<std::int64_t> load_;                // by link
  bool exact_ = true;                             // nothing of load_ is rounded
  std::vector<std::int64_t> in_load_, out_load_;  // by port, in channels
  std::vector<LocalChannel> channels_;
};

/// SearchStep::cross_nic, as DirectSearch understands it.
inline constexpr std::uint8_t kCrossNicSame = 0;
inline constexpr std::uint8_t kCrossNicAny = 1;
inline constexpr std::uint8_t kCrossNicPairs = 2;

}  // namespace ringlet::plan
