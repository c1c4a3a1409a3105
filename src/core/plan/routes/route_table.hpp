// A system as the search sees it: links by number, and ways as lists of such numbers with what data
// on them costs, in NCCL's accounting. The capacity that is left is not here but in Residual.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::plan {

/// Between what a way leads. Devices are GPUs, or ranks in CPU memory where there are no GPUs.
enum class End : std::uint8_t { kDevice, kNet, kSwitch };
struct EndIndex {
  End end = End::kDevice;
  std::uint32_t number = 0;
};
constexpr EndIndex DeviceEnd(std::uint32_t device) {
  return {End::kDevice, device};
}
constexpr EndIndex NetEnd(std::uint32_t net) {
  return {End::kNet, net};
}

/// How much of what passes a link also loads the way back.
enum class ReverseLoad : std::uint8_t {
  kNone,
  kEighth,  ///< into a GPU before sm 80, from a NIC: acknowledgements on PCIe
  kFull,    ///< into a POWER processor by NVLink
};

struct RouteStep {
  std::uint32_t link = 0;
  std::uint32_t back = 0;  ///< the link the other way
  ReverseLoad reverse_load = ReverseLoad::kNone;
  /// Intel's processors split what GPUs send each other in small packets: the link carries 6/5.
  bool split_packets = false;
};

struct Route {
  topology::PathType type = topology::PathType::kDis;
  topology::PathType back_type = topology::PathType::kDis;  ///< of the way back
  std::uint32_t hops = 0;
  std::uint32_t first = 0;  ///< in RouteTable's steps
  std::uint32_t count = 0;
  bool plain = true;  ///< no step has a reverse load or split packets, and no link comes twice
  /// Ways that charge the same links equally have the same; sums of others hardly ever.
  std::uint64_t mark = 0;
};

/// The bandwidth that a step takes from its link, and from the link back.
struct Charge {
  std::int64_t forth = 0;
  std::int64_t back = 0;
};
inline Charge ChargeOf(const RouteStep& step, std::int64_t mb_per_s) {
  const std::int64_t forth = step.split_packets ? (mb_per_s * 6 + 4) / 5 : mb_per_s;
  switch (step.reverse_load) {
    case ReverseLoad::kNone: return {forth, 0};
    case ReverseLoad::kEighth: return {forth, (forth + 7) / 8};
    case ReverseLoad::kFull: return {forth, forth};
  }
  return {};
}

/// Ways are made when they are first asked for. The paths must outlive it.
class RouteTable {
 public:
  explicit RouteTable(const topology::Paths& paths);

  const topology::Paths& paths() const { return paths_; }
  std::span<const topology::NodeIndex> devices() const { return ends_[0]; }
  std::span<const topology::NodeIndex> nets() const { return ends_[1]; }
  std::span<const topology::NodeIndex> switches() const { return ends_[2]; }
  std::uint32_t device_count() const { return static_cast<std::uint32_t>(ends_[0].size()); }
  std::uint32_t net_count() const { return static_cast<std::uint32_t>(ends_[1].size()); }

  /// Not both kNet. The reference is good until the next call.
  const Route& Find(EndIndex from, EndIndex to) { return At(NumberOf(from, to)); }
  /// Ways by number, for who comes back to one.
  std::uint32_t NumberOf(EndIndex from, EndIndex to) {
    const auto a = static_cast<std::size_t>(from.end), b = static_cast<std::size_t>(to.end);
    std::uint32_t& route = route_of_[a][b][from.number * ends_[b].size() + to.number];
    if (route == kNoRoute) route = Make(from, to);
    return route;
  }
  const Route& At(std::uint32_t number) const { return routes_[number]; }
  const RouteStep* Steps(const Route& route) const { return steps_.data() + route.first; }
  std::size_t step_count() const { return steps_.size(); }
  topology::Path PathOf(EndIndex from, EndIndex to) const {
    return paths_.From(NodeOf(from), NodeOf(to));
  }
  /// The bandwidth of a NIC, each way.
  std::int64_t NetMbPerS(std::uint32_t net) const;
  /// A device's own PCIe link, to it and from it; nothing where it has none.
  struct LinkPair {
    std::uint32_t from = 0, to = 0;
  };
  const std::optional<LinkPair>& PciOf(std::uint32_t device) const { return pci_[device]; }

  std::size_t link_count() const { return bandwidths_.size(); }
  /// By number, MB/s.
  const std::vector<std::int64_t>& bandwidths() const { return bandwidths_; }
  /// "PCI/0-10000 > CPU/0-0 (PCI)", as NCCL names nodes.
  std::string LinkText(std::uint32_t link) const;

 private:
  topology::NodeIndex NodeOf(EndIndex end) const {
    return ends_[static_cast<std::size_t>(end.end)][end.number];
  }
  static constexpr std::uint32_t kNoRoute = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t LinkBetween(topology::NodeIndex from, topology::NodeIndex to,
                            topology::LinkKind kind) const;
  void NumberLinks();
  void FindPci();
  std::uint32_t Make(EndIndex from, EndIndex to);

  const topology::Paths& paths_;
  std::vector<topology::NodeIndex> ends_[3];
  std::uint32_t first_node_ = 0;
  std::vector<std::uint32_t> first_link_;  // of each node of the system
  std::vector<std::int64_t> bandwidths_;
  /// Of nodes with many links: where the first link to each node of the system is.
  std::vector<std::vector<std::uint32_t>> position_;
  std::vector<std::optional<LinkPair>> pci_;
  std::vector<topology::Hop> hops_;  // of the way that is made
  std::vector<RouteStep> steps_;
  std::vector<Route> routes_;
  std::vector<std::uint32_t> route_of_[3][3];  // by kinds of ends, then from * count + to
};

/// The rest of the links' bandwidth while channels are laid.
class Residual {
 public:
  explicit Residual(const RouteTable& table) : table_(table), left_(table.bandwidths()) {}

  /// Whether all links of the way have so much.
  bool HasRoom(const Route& route, std::int64_t mb_per_s) {
    if (!route.plain) return HasRoomCharged(route, mb_per_s);
    const RouteStep* const steps = table_.Steps(route);
    for (std::uint32_t i = 0; i < route.count; ++i)
      if (left_[steps[i].link] < mb_per_s) return false;
    return true;
  }
  /// The first link on the way that has too little, what is taken before it counted in.
  std::optional<std::uint32_t> FullOf(const Route& route, std::int64_t mb_per_s) const;
  /// Takes `mb_per_s` on all links of the way, or nothing.
  /// \return the link that has too little, if any
  std::optional<std::uint32_t> Take(const Route& route, std::int64_t mb_per_s) {
    if (!HasRoom(route, mb_per_s)) return FullOf(route, mb_per_s);
    TakeRoom(route, mb_per_s);
    return std::nullopt;
  }
  /// \pre HasRoom
  void TakeRoom(const Route& route, std::int64_t mb_per_s) { Move(route, -mb_per_s); }
  void Give(const Route& route, std::int64_t mb_per_s) { Move(route, mb_per_s); }
  /// The bandwidth that the way takes of each link: `what` gets its number and MB/s.
  template <typename What>
  void ForEachLinkLoad(const Route& route, std::int64_t mb_per_s, const What& what) {
    if (route.plain) {
      const RouteStep* const steps = table_.Steps(route);
      for (std::uint32_t i = 0; i < route.count; ++i) what(steps[i].link, mb_per_s);
    } else {
      for (const LinkLoad& link_load : LinkLoadsOf(route, mb_per_s))
        what(link_load.link, link_load.mb_per_s);
    }
  }
  void Reset() { left_ = table_.bandwidths(); }
  std::int64_t left(std::uint32_t link) const { return left_[link]; }

 private:
  /// The bandwidth that a way takes of a link altogether.
  struct LinkLoad {
    std::uint32_t link = 0;
    std::int64_t mb_per_s = 0;
  };
  /// Those of a way that is not plain, at the bandwidth that was last asked for.
  struct LinkLoads {
    std::int64_t mb_per_s = 0;
    std::uint32_t count = 0;
  };

  std::span<const LinkLoad> LinkLoadsOf(const Route& route, std::int64_t mb_per_s);
  void FindLinkLoads(const Route& route, LinkLoads& link_loads);
  bool HasRoomCharged(const Route& route, std::int64_t mb_per_s);
  void MoveCharged(const Route& route, std::int64_t mb_per_s);
  void Move(const Route& route, std::int64_t mb_per_s) {
    if (!route.plain) return MoveCharged(route, mb_per_s);
    const RouteStep* const steps = table_.Steps(route);
    for (std::uint32_t i = 0; i < route.count; ++i) left_[steps[i].link] += mb_per_s;
  }

  const RouteTable& table_;
  std::vector<std::int64_t> left_;
  std::vector<LinkLoads> link_loads_;      // by a way's first step
  std::vector<LinkLoad> link_loads_list_;  // two places for each step of each way
};

}  // namespace ringlet::plan
