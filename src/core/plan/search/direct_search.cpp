#include "plan/search/direct_search.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "plan/routes/channel_ways.hpp"
#include "plan/routes/limits.hpp"

namespace ringlet::plan {
namespace {

using topology::PathType;

constexpr std::int64_t kPriceScale = std::int64_t{1} << 32;
constexpr std::int64_t kSteepness = 1'000;  // for kScarcer, in MB/s
constexpr std::int64_t kEvenPrice = 1'000;
constexpr std::int64_t kTooDear = std::int64_t{1} << 48;

}  // namespace

DirectSearch::DirectSearch(RouteTable& table, const NicSelector& nets, bool multi_node)
    : table_(table), nets_(nets), multi_node_(multi_node), residual_(table) {
  const std::uint32_t devices = table.device_count();
  lays_ = devices > 1 && (!multi_node || table.net_count() > 0);
  any_order_ = lays_ && table.switches().size() == 1 && devices > 2;
  for (std::uint32_t a = 0; any_order_ && a < devices; ++a)
    for (std::uint32_t b = 0; any_order_ && b < devices; ++b)
      any_order_ = a == b || table.PathOf(DeviceEnd(a), DeviceEnd(b)).type == PathType::kNvl;
  priced_ = multi_node || !any_order_;
}

StepOutcome DirectSearch::PlaceChannels(const SearchStep& search_step, Pricing pricing,
                                        PatternGraph& found) {
  search_step_ = search_step;
  pricing_ = pricing;
  outcome_ = {};
  outcome_.search_step = search_step;
  Clear();
  while (channels_.size() < search_step.max_channels && PlaceChannel())
    channels_.push_back(std::move(channel_));
  outcome_.channels = static_cast<std::uint32_t>(channels_.size());
  if (outcome_.channels < search_step.max_channels) return outcome_;
  outcome_.improved = outcome_.perfect = true;
  outcome_.refusal = StepRefusal::kNone;
  outcome_.link = std::nullopt;
  Save(found);
  return outcome_;
}

/// Removes all channels.
void DirectSearch::Clear() {
  ClearLeft();
  if (priced_) price_.resize(table_.link_count());
  for (std::uint32_t link = 0; link < price_.size(); ++link) price_[link] = PriceOf(link);
  taken_.clear();
  channels_.clear();
  channels_.reserve(search_step_.max_channels);
}

void DirectSearch::ClearLeft() {
  residual_.Reset();
  in_left_.assign(nets_.port_count(), 0);
  for (std::uint32_t net = 0; net < table_.net_count(); ++net)
    in_left_[nets_.PortOf(net)] = std::max(in_left_[nets_.PortOf(net)], table_.NetMbPerS(net));
  out_left_ = in_left_;
}

bool DirectSearch::PlaceChannel() {
  channel_ = {};
  if (multi_node_) return PlaceByNics();
  // Each chain ends at another device.
  const bool ring = search_step_.pattern == Pattern::kRing;
  const auto c = static_cast<std::uint32_t>(channels_.size());
  return PlaceFrom(ring ? 0 : c % table_.device_count(), std::nullopt);
}

/// Visits all devices in the order of numbers, starting with `first`. `other` is a ring's last
/// device, or a tree's second device.
bool DirectSearch::PlaceFrom(std::uint32_t first, std::optional<std::uint32_t> other) {
  if (!any_order_) return PlaceCheapestFirst(first, other);
  const std::uint32_t devices = table_.device_count();
  const bool ring = search_step_.pattern == Pattern::kRing;
  std::vector<std::uint32_t>& order = channel_.devices;
  order.reserve(devices);
  order.assign(1, first);
  const bool second = other && !ring;
  if (second) order.push_back(*other);
  const std::uint32_t base = second ? *other : first;
  for (std::uint32_t i = 1, device = base; i < devices; ++i) {
    device = device + 1 < devices ? device + 1 : 0;
    if (device != first && device != other) order.push_back(device);
  }
  if (other && ring) order.push_back(*other);
  for (std::uint32_t i = 0; i + 1 < devices; ++i)
    if (!Take(DeviceEnd(order[i]), DeviceEnd(order[i + 1]), search_step_.intra_mb_per_s))
      return false;
  if (!ring || multi_node_) return true;
  return Take(DeviceEnd(order.back()), DeviceEnd(first), search_step_.intra_mb_per_s);
}

/// Like PlaceFrom(), but the next device is the cheapest one.
bool DirectSearch::PlaceCheapestFirst(std::uint32_t first, std::optional<std::uint32_t> other) {
  const std::uint32_t devices = table_.device_count();
  const bool ring = search_step_.pattern == Pattern::kRing;
  std::vector<std::uint32_t>& order = channel_.devices;
  order.reserve(devices);
  order.assign(1, first);
  visited_.assign(devices, false);
  visited_[first] = true;
  const bool last_known = other && ring && *other != first;
  if (last_known) visited_[*other] = true;
  while (order.size() + (last_known ? 1 : 0) < devices) {
    const std::uint32_t from = order.back();
    std::optional<ExitChoice> next;
    if (order.size() == 1 && other && search_step_.pattern == Pattern::kBalancedTree) {
      next = ExitChoice{*other, 0};
    } else {
      for (std::uint32_t distance = 1; distance < devices; ++distance) {
        const std::uint32_t device = (from + distance) % devices;
        if (visited_[device]) continue;
        ++outcome_.steps;
        const Route& route = table_.Find(DeviceEnd(from), DeviceEnd(device));
        if (route.type >= PathType::kNet) continue;
        const std::int64_t cost = CostOf(route, search_step_.intra_mb_per_s);
        if (!next || cost < next->cost) next = ExitChoice{device, cost};
      }
    }
    if (!next || !Take(DeviceEnd(from), DeviceEnd(next->number), search_step_.intra_mb_per_s))
      return false;
    visited_[next->number] = true;
    order.push_back(next->number);
  }
  if (last_known) {
    if (!Take(DeviceEnd(order.back()), DeviceEnd(*other), search_step_.intra_mb_per_s))
      return false;
    order.push_back(*other);
  }
  return !ring || multi_node_ ||
         Take(DeviceEnd(order.back()), DeviceEnd(first), search_step_.intra_mb_per_s);
}

/// Returns true if the channel uses the NICs of the previous channel in the opposite direction.
bool DirectSearch::Returns() const {
  return search_step_.pattern == Pattern::kRing && search_step_.cross_nic == kCrossNicPairs &&
         channels_.size() % 2 == 1;
}

/// Places a channel at the NIC with the lowest cost.
bool DirectSearch::PlaceByNics() {
  std::optional<std::uint32_t> best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const std::size_t before = taken_.size();
  for (std::uint32_t net = 0; net < table_.net_count(); ++net) {
    if (Returns() && net != channels_.back().exit) continue;
    const std::optional<std::int64_t> cost = ReserveEnds(net);
    ReleaseRoutesFrom(before);
    if (!cost || *cost >= least) continue;
    least = *cost;
    best = net;
  }
  if (!best || !ReserveEnds(*best)) return false;
  in_left_[nets_.PortOf(*channel_.entry)] -= search_step_.inter_mb_per_s;
  out_left_[nets_.PortOf(*channel_.exit)] -= search_step_.inter_mb_per_s;
  const std::vector<std::uint32_t> ends = channel_.devices;
  return PlaceFrom(ends.front(), ends.back());
}

/// Takes the routes between a NIC and its nearest devices, and stores the devices in channel_.
/// \return the cost; null if room is lacking, and some routes may then be taken
std::optional<std::int64_t> DirectSearch::ReserveEnds(std::uint32_t net) {
  const std::int64_t whole = search_step_.inter_mb_per_s;
  if (in_left_[nets_.PortOf(net)] < whole) return std::nullopt;
  const std::optional<ExitChoice> first = Nearest(net, true, whole, std::nullopt);
  if (!first || !Take(NetEnd(net), DeviceEnd(first->number), whole)) return std::nullopt;
  channel_.entry = net;
  channel_.devices.assign(1, first->number);
  if (search_step_.pattern == Pattern::kRing) {
    const std::optional<ExitChoice> last = Nearest(net, false, whole, first->number);
    if (!last) return std::nullopt;
    const std::optional<ExitChoice> exit = ExitFor(net, last->number, whole);
    if (!exit || !Take(DeviceEnd(last->number), NetEnd(exit->number), whole)) return std::nullopt;
    channel_.exit = exit->number;
    channel_.devices.push_back(last->number);
    return first->cost + exit->cost;
  }
  const bool balanced = search_step_.pattern == Pattern::kBalancedTree;
  const std::int64_t part = balanced ? (whole + 1) / 2 : whole;
  if (out_left_[nets_.PortOf(net)] < whole) return std::nullopt;
  if (!Take(DeviceEnd(first->number), NetEnd(net), part)) return std::nullopt;
  const std::optional<ExitChoice> second = Nearest(net, false, part, first->number);
  if (!second) return std::nullopt;
  if (balanced && !Take(DeviceEnd(second->number), NetEnd(net), part)) return std::nullopt;
  channel_.exit = net;
  channel_.devices.push_back(second->number);
  return first->cost + second->cost;
}

/// The device with the cheapest route from a NIC, or to it.
std::optional<DirectSearch::ExitChoice> DirectSearch::Nearest(
    std::uint32_t net, bool inward, std::int64_t mb_per_s, std::optional<std::uint32_t> not_this) {
  std::optional<ExitChoice> best;
  for (std::uint32_t device = 0; device < table_.device_count(); ++device) {
    if (device == not_this) continue;
    ++outcome_.steps;
    const Route& route = inward ? table_.Find(NetEnd(net), DeviceEnd(device))
                                : table_.Find(DeviceEnd(device), NetEnd(net));
    if (route.type >= PathType::kNet) continue;
    const std::int64_t cost = CostOf(route, mb_per_s);
    if (!best || cost < best->cost) best = ExitChoice{device, cost};
  }
  return best;
}

/// The NIC where a ring leaves.
std::optional<DirectSearch::ExitChoice> DirectSearch::ExitFor(std::uint32_t entry,
                                                              std::uint32_t device,
                                                              std::int64_t mb_per_s) {
  std::optional<ExitChoice> best;
  for (std::uint32_t net = 0; net < table_.net_count(); ++net) {
    if (search_step_.cross_nic == kCrossNicSame && net != entry) continue;
    if (Returns() && net != channels_.back().entry) continue;
    if (out_left_[nets_.PortOf(net)] < mb_per_s) continue;
    const Route& route = table_.Find(DeviceEnd(device), NetEnd(net));
    if (route.type >= PathType::kNet) continue;
    const std::int64_t cost = CostOf(route, mb_per_s);
    if (!best || cost < best->cost) best = ExitChoice{net, cost};
  }
  return best;
}

/// The cost of a route. Links with less bandwidth left cost more.
std::int64_t DirectSearch::CostOf(const Route& route, std::int64_t mb_per_s) const {
  std::int64_t cost = 0;
  for (std::uint32_t i = 0; i < route.count; ++i) {
    const RouteStep& step = table_.Steps(route)[i];
    const std::int64_t charge = ChargeOf(step, mb_per_s).forth;
    cost += residual_.left(step.link) < charge ? kTooDear : charge * price_[step.link];
  }
  return cost;
}

bool DirectSearch::Take(EndIndex from, EndIndex to, std::int64_t mb_per_s) {
  const Route& route = table_.Find(from, to);
  if (const std::optional<std::uint32_t> full = residual_.Take(route, mb_per_s)) {
    outcome_.refusal = StepRefusal::kLink;
    outcome_.link = full;
    return false;
  }
  ++outcome_.steps;
  if (priced_) Price(route);
  taken_.push_back({from, to, mb_per_s});
  return true;
}

/// The price of 1 MB/s.
std::int64_t DirectSearch::PriceOf(std::uint32_t link) const {
  const std::int64_t left = residual_.left(link) + 1;
  switch (pricing_) {
    case Pricing::kScarce: return kPriceScale / left;
    case Pricing::kScarcer: return kPriceScale / left * kSteepness / left;
    case Pricing::kEven: return kEvenPrice;
  }
  return 0;
}

/// Updates the prices of a route's links after their remaining bandwidth changed.
void DirectSearch::Price(const Route& route) {
  for (std::uint32_t i = 0; i < route.count; ++i) {
    const std::uint32_t link = table_.Steps(route)[i].link;
    price_[link] = PriceOf(link);
  }
}

void DirectSearch::ReleaseRoutesFrom(std::size_t until) {
  while (taken_.size() > until) {
    const ReservedRoute& last = taken_.back();
    const Route& route = table_.Find(last.from, last.to);
    residual_.ReleaseBandwidth(route, last.mb_per_s);
    if (priced_) Price(route);
    taken_.pop_back();
  }
}

std::uint32_t DirectSearch::WidthOf(const PatternGraph& graph, std::uint32_t most) {
  search_step_.pattern = graph.pattern;
  load_.assign(table_.link_count(), 0);
  in_load_.assign(nets_.port_count(), 0);
  out_load_ = in_load_;
  exact_ = true;
  const std::vector<LocalChannel>& channels = graph.channels;
  for (std::size_t i = 0, next = 0; i < channels.size(); i = next) {
    while (next < channels.size() && channels[next] == channels[i]) ++next;
    AddLoad(channels[i], static_cast<std::int64_t>(next - i));
  }
  ClearLeft();
  std::int64_t width = most;
  for (std::uint32_t link = 0; link < load_.size(); ++link)
    if (load_[link] > 0) width = std::min(width, residual_.left(link) * kCostUnits / load_[link]);
  for (std::uint32_t port = 0; port < in_left_.size(); ++port) {
    if (in_load_[port] > 0) width = std::min(width, in_left_[port] / in_load_[port]);
    if (out_load_[port] > 0) width = std::min(width, out_left_[port] / out_load_[port]);
  }
  const std::int64_t now = std::min(graph.intra, graph.inter).mb_per_s;
  // Charges are rounded up by at most 1 MB/s per step.
  while (!exact_ && width > now && !HasRoomFor(graph, width)) --width;
  return static_cast<std::uint32_t>(std::max(width, now));
}

/// Adds the load of `times` equal channels to links, in kCostUnits, and to ports.
void DirectSearch::AddLoad(const LocalChannel& channel, std::int64_t times) {
  ForEachRoute(search_step_.pattern, channel, [&](EndIndex from, EndIndex to, bool half) {
    const Route& route = table_.Find(from, to);
    const std::int64_t part = times * (half ? kCostUnits / 2 : kCostUnits);
    exact_ = exact_ && route.plain && !half;
    for (std::uint32_t i = 0; route.plain && i < route.count; ++i)
      load_[table_.Steps(route)[i].link] += part;
    for (std::uint32_t i = 0; !route.plain && i < route.count; ++i) {
      const RouteStep& step = table_.Steps(route)[i];
      const Charge charge = ChargeOf(step, part);
      load_[step.link] += charge.forth;
      load_[step.back] += charge.back;
    }
    return true;
  });
  if (channel.entry) in_load_[nets_.PortOf(*channel.entry)] += times;
  if (channel.exit) out_load_[nets_.PortOf(*channel.exit)] += times;
}

bool DirectSearch::HasRoomFor(const PatternGraph& graph, std::int64_t mb_per_s) {
  residual_.Reset();
  for (const LocalChannel& channel : graph.channels) {
    const bool fits =
        ForEachRoute(search_step_.pattern, channel, [&](EndIndex from, EndIndex to, bool half) {
          return !residual_.Take(table_.Find(from, to), half ? (mb_per_s + 1) / 2 : mb_per_s);
        });
    if (!fits) return false;
  }
  return true;
}

void DirectSearch::Save(PatternGraph& found) {
  found.pattern = search_step_.pattern;
  found.channels = std::move(channels_);
  found.intra = {search_step_.intra_mb_per_s};
  found.inter = {search_step_.inter_mb_per_s};
  found.cross_nic = search_step_.cross_nic;
  found.same_channels = false;
  found.hops = 0;
  found.type_intra = found.type_inter = PathType::kLoc;
  for (const ReservedRoute& one : taken_) {
    const Route& route = table_.Find(one.from, one.to);
    const bool inter = one.from.end == End::kNet || one.to.end == End::kNet;
    PathType& type = inter ? found.type_inter : found.type_intra;
    type = std::max(type, route.type);
    found.hops += route.hops;
  }
  const topology::Graph& graph = table_.paths().graph();
  if (multi_node_)
    found.latency_inter_ns = graph.net(table_.nets()[*found.channels.front().entry]).latency_ns;
  else
    found.type_inter = PathType::kPix;
}

}  // namespace ringlet::plan
