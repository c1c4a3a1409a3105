// The system in the form that the search uses. Links have numbers. A route is a list of links with
// the cost of data on each, in NCCL's accounting. Residual tracks the remaining bandwidth.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::plan {

/// Kinds of ends of a route. Devices are GPUs, or ranks in CPU memory if the system lacks GPUs.
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

/// The part of a link's data that also loads the opposite direction.
enum class ReverseLoad : std::uint8_t {
  kNone,
  kEighth,  ///< from a NIC into a GPU before sm 80: acknowledgements on PCIe
  kFull,    ///< into a POWER processor over NVLink
};

struct RouteStep {
  std::uint32_t link = 0;
  std::uint32_t back = 0;  ///< the link in the opposite direction
  ReverseLoad reverse_load = ReverseLoad::kNone;
  /// Intel's processors split data between GPUs into small packets, so that the link carries 6/5.
  bool split_packets = false;
};

struct Route {
  topology::PathType type = topology::PathType::kDis;
  topology::PathType back_type = topology::PathType::kDis;  ///< type of the opposite path
  std::uint32_t hops = 0;
  std::uint32_t first = 0;  ///< index of the first step in RouteTable's steps
  std::uint32_t count = 0;
  bool plain = true;  ///< no reverse load, no split packets, and no link twice
  /// Equal for routes that charge the same links equally. Sums of other marks almost never collide.
  std::uint64_t mark = 0;
};

/// The bandwidth that a step takes from its link, and from the link in the opposite direction.
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

/// Creates routes on first use. The paths must outlive the table.
class RouteTable {
 public:
  explicit RouteTable(const topology::Paths& paths);

  const topology::Paths& paths() const { return paths_; }
  std::span<const topology::NodeIndex> devices() const { return ends_[0]; }
  std::span<const topology::NodeIndex> nets() const { return ends_[1]; }
  std::span<const topology::NodeIndex> switches() const { return ends_[2]; }
  std::uint32_t device_count() const { return static_cast<std::uint32_t>(ends_[0].size()); }
  std::uint32_t net_count() const { return static_cast<std::uint32_t>(ends_[1].size()); }

  /// Returns a reference that is valid until the next call.
  /// \pre at most one end is kNet
  const Route& Find(EndIndex from, EndIndex to) { return At(NumberOf(from, to)); }
  /// The number of a route, for repeated access through At().
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
  /// The bandwidth of a NIC, per direction.
  std::int64_t NetMbPerS(std::uint32_t net) const;
  /// The PCIe links from a device and to it. Null if the device lacks one.
  struct LinkPair {
    std::uint32_t from = 0, to = 0;
  };
  const std::optional<LinkPair>& PciOf(std::uint32_t device) const { return pci_[device]; }

  std::size_t link_count() const { return bandwidths_.size(); }
  /// In MB/s, by link number.
  const std::vector<std::int64_t>& bandwidths() const { return bandwidths_; }
  /// "PCI/0-10000 > CPU/0-0 (PCI)". NCCL names nodes this way.
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
  std::vector<std::uint32_t> first_link_;  // by node of the system
  std::vector<std::int64_t> bandwidths_;
  /// The index of the first link to each node of the system, for nodes with many links. Else empty.
  std::vector<std::vector<std::uint32_t>> position_;
  std::vector<std::optional<LinkPair>> pci_;
  std::vector<topology::Hop> hops_;  // scratch of Make()
  std::vector<RouteStep> steps_;
  std::vector<Route> routes_;
  std::vector<std::uint32_t> route_of_[3][3];  // by kinds of both ends; then from * count + to
};

/// The remaining bandwidth of the links while the search places channels.
class Residual {
 public:
  explicit Residual(const RouteTable& table) : table_(table), left_(table.bandwidths()) {}

  /// Returns true if all links of the route have the required bandwidth left.
  bool HasRoom(const Route& route, std::int64_t mb_per_s) {
    if (!route.plain) return HasRoomCharged(route, mb_per_s);
    const RouteStep* const steps = table_.Steps(route);
    for (std::uint32_t i = 0; i < route.count; ++i)
      if (left_[steps[i].link] < mb_per_s) return false;
    return true;
  }
  /// The first link of the route with too little bandwidth after the charges of earlier steps.
  std::optional<std::uint32_t> FullOf(const Route& route, std::int64_t mb_per_s) const;
  /// Takes `mb_per_s` from all links of the route, or from none.
  /// \return the link with too little bandwidth, if any
  std::optional<std::uint32_t> Take(const Route& route, std::int64_t mb_per_s) {
    if (!HasRoom(route, mb_per_s)) return FullOf(route, mb_per_s);
    ReserveBandwidth(route, mb_per_s);
    return std::nullopt;
  }
  /// \pre HasRoom()
  void ReserveBandwidth(const Route& route, std::int64_t mb_per_s) { Move(route, -mb_per_s); }
  void ReleaseBandwidth(const Route& route, std::int64_t mb_per_s) { Move(route, mb_per_s); }
  /// Calls `what` with each link of the route and the MB/s that the route takes from it.
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
  /// The total bandwidth that a route takes from a link.
  struct LinkLoad {
    std::uint32_t link = 0;
    std::int64_t mb_per_s = 0;
  };
  /// The link loads of a route that is not plain, cached for the latest bandwidth.
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
  std::vector<LinkLoads> link_loads_;      // by the route's first step
  std::vector<LinkLoad> link_loads_list_;  // two entries for each step of each route
};

}  // namespace ringlet::plan
