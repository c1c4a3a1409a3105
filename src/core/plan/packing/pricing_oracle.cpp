#include "plan/packing/pricing_oracle.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "plan/routes/limits.hpp"

namespace ringlet::plan {
namespace {

constexpr std::int64_t kNoRoute = std::int64_t{1}
                                  << 58;  // the sum over a channel's routes stays below 2^63

constexpr std::size_t kNearEndsMax = 4;  // number of choices of ends to try
constexpr std::uint32_t kAtOnce = 4;     // numbers per vector addition
static_assert(5 * kAtOnce >= kCheapestDevicesMax);

/// Computes the cost of the cheapest chains from each device through every set of other devices,
/// except for the largest set.
/// \param to  [to][from]
/// \param before  [set][device]; the caller fills in the empty set
template <std::uint32_t kWidth>
void FillChains(std::uint32_t universe, const std::int32_t* to, std::int32_t* before,
                std::int32_t far) {
  for (std::uint32_t set = universe & -universe; set != universe;
       set = (set - universe) & universe) {
    std::int32_t least[kWidth];
    for (std::int32_t& one : least) one = far;
    for (std::uint32_t nexts = set; nexts != 0; nexts &= nexts - 1) {
      const auto next = static_cast<std::uint32_t>(std::countr_zero(nexts));
      const std::int32_t rest = before[(set ^ (1u << next)) * kWidth + next];
      const std::int32_t* const routes = to + next * kWidth;
      for (std::uint32_t i = 0; i < kWidth; ++i) least[i] = std::min(least[i], rest + routes[i]);
    }
    std::copy(least, least + kWidth, before + set * kWidth);
  }
}

}  // namespace

PricingOracle::PricingOracle(RouteTable& table, const NicSelector& nets, bool multi_node)
    : table_(table),
      nets_(nets),
      multi_node_(multi_node),
      devices_(table.device_count()),
      lanes_((devices_ + kAtOnce - 1) / kAtOnce * kAtOnce) {
  for (const topology::NodeIndex net : table.nets())
    planes_ = planes_ || table.paths().graph().net(net).plane.has_value();
  usable_ = devices_ > 1 && devices_ <= kNearDevicesMax && (!multi_node || table.net_count() > 0);
}

std::optional<PricingOracle::PricedChannel> PricingOracle::Find(Pattern pattern, CrossNic crossing,
                                                                const Prices& prices) {
  if (before_.empty()) before_.resize((std::size_t{1} << devices_) * lanes_);
  PriceRoutes(pattern, prices);
  if (!multi_node_) return FindInside(pattern);
  if (crossing == CrossNic::kAny && pattern == Pattern::kRing && !planes_) return FindFreely();
  return FindBeyond(pattern, crossing);
}

void PricingOracle::AddLinkLoads(EndIndex from, EndIndex to, std::int64_t part,
                                 ChannelLoads& link_loads) {
  const Route& route = table_.Find(from, to);
  const auto add = [&](std::uint32_t link, std::int64_t amount) {
    if (amount > 0) link_loads.list.push_back({link, static_cast<std::int32_t>(amount)});
  };
  const bool passable = route.type <= topology::PathType::kNet;
  for (std::uint32_t i = 0; passable && i < route.count; ++i) {
    const RouteStep& step = table_.Steps(route)[i];
    const Charge charge = ChargeOf(step, part);
    add(step.link, charge.forth);
    add(step.back, charge.back);
  }
  link_loads.until.push_back(static_cast<std::uint32_t>(link_loads.list.size()));
  link_loads.passable.push_back(passable);
}

void PricingOracle::FindLinkLoads() {
  to_.assign(std::size_t{devices_} * lanes_, kFar);
  least_in_.resize(devices_);
  for (std::uint32_t a = 0; a < devices_; ++a)
    for (std::uint32_t b = 0; b < devices_; ++b)
      if (a != b) AddLinkLoads(DeviceEnd(b), DeviceEnd(a), kCostUnits, between_link_loads_);
  for (std::uint32_t net = 0; multi_node_ && net < table_.net_count(); ++net) {
    for (std::uint32_t device = 0; device < devices_; ++device) {
      AddLinkLoads(NetEnd(net), DeviceEnd(device), kCostUnits, in_link_loads_);
      AddLinkLoads(DeviceEnd(device), NetEnd(net), kCostUnits, out_link_loads_);
      AddLinkLoads(DeviceEnd(device), NetEnd(net), kCostUnits / 2, half_out_link_loads_);
    }
  }
}

/// Computes the cost of routes in 31 bits. Scales costs down if they need more.
void PricingOracle::PriceRoutes(Pattern pattern, const Prices& prices) {
  if (to_.empty()) FindLinkLoads();
  const auto price = [&](const ChannelLoads& link_loads, std::vector<std::int64_t>& costs) {
    costs.assign(link_loads.until.size(), kNoRoute);
    std::uint32_t at = 0;
    for (std::size_t route = 0; route < costs.size(); ++route) {
      if (link_loads.passable[route]) costs[route] = 0;
      for (; at < link_loads.until[route]; ++at)
        costs[route] += link_loads.list[at].amount * prices.links[link_loads.list[at].link];
    }
  };
  const auto add = [&](std::vector<std::int64_t>& costs, const std::vector<std::int64_t>& ports,
                       std::int64_t part) {
    for (std::size_t route = 0; route < costs.size(); ++route)
      costs[route] += part * ports[nets_.PortOf(static_cast<std::uint32_t>(route / devices_))];
  };
  price(between_link_loads_, between_costs_);
  if (multi_node_) {
    price(in_link_loads_, in_costs_);
    add(in_costs_, prices.in, kCostUnits);
    if (pattern != Pattern::kBalancedTree) {
      price(out_link_loads_, out_costs_);
      add(out_costs_, prices.out, kCostUnits);
      half_out_costs_.clear();
    } else {
      price(half_out_link_loads_, half_out_costs_);
      add(half_out_costs_, prices.out, kCostUnits / 2);
      out_costs_.clear();
    }
  }
  const std::int64_t most = SomeCost(pattern);
  for (shift_ = 0; most >> shift_ >= kFar;) ++shift_;
  const auto scaled = [&](std::int64_t cost) {
    return static_cast<Cost>(std::min<std::int64_t>(cost >> shift_, kFar));
  };
  for (std::uint32_t to = 0, route = 0; to < devices_; ++to)
    for (std::uint32_t from = 0; from < devices_; ++from)
      if (from != to) to_[to * lanes_ + from] = scaled(between_costs_[route++]);
  const auto scale = [&](const std::vector<std::int64_t>& from, std::vector<Cost>& to) {
    to.resize(from.size());
    std::transform(from.begin(), from.end(), to.begin(), scaled);
  };
  scale(in_costs_, in_);
  scale(out_costs_, out_);
  scale(half_out_costs_, half_out_);
}

/// The cost of one channel if it has all its routes. Otherwise the cost of all routes together.
std::int64_t PricingOracle::SomeCost(Pattern pattern) const {
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    return between_costs_[to * (devices_ - 1) + from - (from > to ? 1 : 0)];
  };
  std::vector<std::uint32_t> order = {0};
  std::int64_t cost = 0;
  std::uint64_t rest = (std::uint64_t{1} << devices_) - 2;
  for (; rest != 0; rest &= ~(std::uint64_t{1} << order.back())) {
    auto next = static_cast<std::uint32_t>(std::countr_zero(rest));
    for (std::uint32_t other = next + 1; other < devices_; ++other)
      if ((rest >> other & 1) != 0 && between(order.back(), other) < between(order.back(), next))
        next = other;
    cost = std::min(kNoRoute, cost + between(order.back(), next));
    order.push_back(next);
  }
  std::int64_t ends = multi_node_                 ? kNoRoute
                      : pattern == Pattern::kRing ? between(order.back(), 0)
                                                  : 0;
  for (std::uint32_t net = 0; multi_node_ && net < table_.net_count(); ++net) {
    const auto of = [&](const std::vector<std::int64_t>& costs, std::uint32_t device) {
      return costs[std::size_t{net} * devices_ + device];
    };
    const std::int64_t out = pattern == Pattern::kRing ? of(out_costs_, order.back())
                             : pattern == Pattern::kTree
                                 ? of(out_costs_, 0)
                                 : of(half_out_costs_, 0) + of(half_out_costs_, order[1]);
    ends = std::min(ends, of(in_costs_, 0) + out);
  }
  if (cost + ends < kNoRoute) return cost + ends;
  cost = 0;
  for (const auto* costs : {&between_costs_, &in_costs_, &out_costs_, &half_out_costs_})
    for (const std::int64_t one : *costs)
      if (one < kNoRoute) cost = std::min(kNoRoute, cost + one);
  return cost;
}

bool PricingOracle::MayPass(std::uint32_t entry, std::uint32_t exit, Pattern pattern,
                            CrossNic crossing) const {
  if (entry == exit) return true;
  if (crossing == CrossNic::kSame || pattern == Pattern::kTree) return false;
  const topology::Graph& graph = table_.paths().graph();
  const topology::NetFacts& in = graph.net(table_.nets()[entry]);
  const topology::NetFacts& out = graph.net(table_.nets()[exit]);
  return !in.plane || !out.plane || in.plane == out.plane;
}

/// Fills in Chain() for all sets within `universe`. The caller sets AtEnd() before.
void PricingOracle::Chains(std::uint32_t universe) {
  const std::int64_t ways =
      std::int64_t{devices_} * (lanes_ / kAtOnce) * (std::int64_t{universe} + 1) / 2;
  work_ += few() ? ways : ways >> (devices_ - kFewDevices);
  switch (lanes_ / kAtOnce) {
    case 1: return FillChains<kAtOnce>(universe, to_.data(), before_.data(), kFar);
    case 2: return FillChains<2 * kAtOnce>(universe, to_.data(), before_.data(), kFar);
    case 3: return FillChains<3 * kAtOnce>(universe, to_.data(), before_.data(), kFar);
    case 4: return FillChains<4 * kAtOnce>(universe, to_.data(), before_.data(), kFar);
    default: return FillChains<5 * kAtOnce>(universe, to_.data(), before_.data(), kFar);
  }
}

/// Appends the devices of the cheapest chain through a set that begins with `first`.
void PricingOracle::Follow(std::uint32_t set, std::uint32_t first,
                           std::vector<std::uint32_t>& order) const {
  order.push_back(first);
  for (std::uint32_t rest = set & ~(1u << first); rest != 0;) {
    std::uint32_t next = 0;
    while ((rest >> next & 1) == 0 ||
           Between(first, next) + Chain(rest, next) != Chain(rest | 1u << first, first))
      ++next;
    order.push_back(first = next);
    rest &= ~(1u << next);
  }
}

std::optional<PricingOracle::PricedChannel> PricingOracle::FindInside(Pattern pattern) {
  const std::uint32_t all = (1u << devices_) - 1;
  const bool ring = pattern == Pattern::kRing;
  for (std::uint32_t last = 0; last < devices_; ++last) AtEnd(last) = ring ? Between(last, 0) : 0;
  const std::uint32_t universe = ring ? all & ~1u : all;
  Chains(universe);
  const auto cost = [&](std::uint32_t first) {
    return Chain(universe, first) + (ring ? Between(0, first) : 0);
  };
  std::uint32_t best = ring ? 1 : 0;
  for (std::uint32_t first = best + 1; first < devices_; ++first)
    if (cost(first) < cost(best)) best = first;
  if (cost(best) >= kFar) return std::nullopt;
  PricedChannel found{{LocalChannel()}, Unscaled(cost(best))};
  if (ring) found.channels[0].devices.push_back(0);
  Follow(universe, best, found.channels[0].devices);
  return found;
}

/// Computes the chains of channels that leave by `exit`.
void PricingOracle::ChainsTo(Pattern pattern, std::uint32_t exit) {
  for (std::uint32_t last = 0; last < devices_; ++last)
    AtEnd(last) = pattern == Pattern::kRing ? out_[exit * devices_ + last] : 0;
  Chains((1u << devices_) - 1);
}

/// \pre ChainsTo(exit); for trees, ChainsTo() of any exit
/// \param in  by device; the result lacks the entry
PricingOracle::Ends PricingOracle::BestEnds(Pattern pattern, const Cost* in,
                                            std::uint32_t exit) const {
  const std::uint32_t all = (1u << devices_) - 1;
  const Cost* const out = out_.empty() ? nullptr : &out_[exit * devices_];
  const Cost* const half = half_out_.empty() ? nullptr : &half_out_[exit * devices_];
  Ends best{kFar, 0, exit, 0, 0};
  for (std::uint32_t first = 0; first < devices_; ++first) {
    if (pattern != Pattern::kBalancedTree) {
      const std::int64_t leave = pattern == Pattern::kTree ? out[first] : 0;
      const std::int64_t cost = in[first] + leave + Chain(all, first);
      if (cost < best.cost) best = {cost, 0, exit, first, first};
      continue;
    }
    const std::uint32_t rest = all & ~(1u << first);
    const std::int64_t here = std::int64_t{in[first]} + half[first];
    if (here >= best.cost) continue;
    for (std::uint32_t second = 0; second < devices_; ++second) {
      if (second == first) continue;
      const std::int64_t cost = here + half[second] + Between(first, second) + Chain(rest, second);
      if (cost < best.cost) best = {cost, 0, exit, first, second};
    }
  }
  return best;
}

/// The cheapest channel between two NICs. Call it after ChainsTo().
LocalChannel PricingOracle::Write(Pattern pattern, const Ends& ends) const {
  const std::uint32_t all = (1u << devices_) - 1;
  LocalChannel channel;
  channel.entry = ends.entry;
  channel.exit = ends.exit;
  channel.devices.reserve(devices_);
  if (pattern == Pattern::kBalancedTree) {
    channel.devices.push_back(ends.first);
    Follow(all & ~(1u << ends.first), ends.second, channel.devices);
  } else {
    Follow(all, ends.first, channel.devices);
  }
  return channel;
}

/// The NICs where channels may leave, sorted by a lower bound of the cost.
/// \return the lower bound and the NIC
std::vector<std::pair<std::int64_t, std::uint32_t>> PricingOracle::Exits(Pattern pattern,
                                                                         CrossNic crossing) {
  const std::uint32_t nets = table_.net_count();
  const std::uint32_t all = (1u << devices_) - 1;
  for (std::uint32_t last = 0; last < devices_; ++last) AtEnd(last) = 0;
  Chains(all);
  std::vector<std::pair<std::int64_t, std::uint32_t>> exits;
  exits.reserve(nets);
  for (std::uint32_t exit = 0; exit < nets; ++exit) {
    std::int64_t least_in = kFar, least_out = pattern == Pattern::kRing ? kFar : 0;
    for (std::uint32_t entry = 0; entry < nets; ++entry) {
      if (!MayPass(entry, exit, pattern, crossing)) continue;
      for (std::uint32_t first = 0; first < devices_; ++first)
        least_in = std::min<std::int64_t>(
            least_in, std::int64_t{in_[entry * devices_ + first]} + Chain(all, first));
    }
    for (std::uint32_t last = 0; least_out > 0 && last < devices_; ++last)
      least_out = std::min<std::int64_t>(least_out, out_[exit * devices_ + last]);
    exits.emplace_back(least_in + least_out, exit);
  }
  std::sort(exits.begin(), exits.end());
  return exits;
}

/// The NIC with the lowest cost for leaving a device, or for entering it.
std::uint32_t PricingOracle::CheapestNet(const std::vector<Cost>& costs,
                                         std::uint32_t device) const {
  std::uint32_t best = 0;
  for (std::uint32_t net = 1; net < table_.net_count(); ++net)
    if (costs[net * devices_ + device] < costs[best * devices_ + device]) best = net;
  return best;
}

/// Finds a ring that may leave by any NIC.
std::optional<PricingOracle::PricedChannel> PricingOracle::FindFreely() {
  const std::uint32_t all = (1u << devices_) - 1;
  for (std::uint32_t last = 0; last < devices_; ++last)
    AtEnd(last) = out_[CheapestNet(out_, last) * devices_ + last];
  Chains(all);
  const auto cost = [&](std::uint32_t first) {
    return in_[CheapestNet(in_, first) * devices_ + first] + Chain(all, first);
  };
  std::uint32_t best = 0;
  for (std::uint32_t first = 1; first < devices_; ++first)
    if (cost(first) < cost(best)) best = first;
  if (cost(best) >= kFar) return std::nullopt;
  PricedChannel found{{LocalChannel()}, Unscaled(cost(best))};
  LocalChannel& channel = found.channels.front();
  Follow(all, best, channel.devices);
  channel.entry = CheapestNet(in_, best);
  channel.exit = CheapestNet(out_, channel.devices.back());
  return found;
}

std::optional<PricingOracle::PricedChannel> PricingOracle::FindBeyond(Pattern pattern,
                                                                      CrossNic crossing) {
  Ends best{kFar, 0, table_.net_count(), 0, 0};
  std::uint32_t last = table_.net_count();
  const auto look = [&](const Cost* in, std::uint32_t entry, std::uint32_t exit) {
    Ends ends = BestEnds(pattern, in, exit);
    if (ends.cost >= best.cost) return;
    best = ends;
    best.entry = entry < table_.net_count() ? entry : CheapestNet(in_, ends.first);
  };
  const bool any = crossing == CrossNic::kAny && pattern != Pattern::kTree && !planes_;
  for (std::uint32_t device = 0; any && device < devices_; ++device)
    least_in_[device] = in_[CheapestNet(in_, device) * devices_ + device];
  for (const auto& [at_least, exit] : Exits(pattern, crossing)) {
    if (at_least >= best.cost) break;
    if (pattern == Pattern::kRing) ChainsTo(pattern, exit);
    last = exit;
    if (any) look(least_in_.data(), table_.net_count(), exit);
    for (std::uint32_t entry = 0; !any && entry < table_.net_count(); ++entry)
      if (MayPass(entry, exit, pattern, crossing)) look(&in_[entry * devices_], entry, exit);
  }
  if (best.cost >= kFar) return std::nullopt;
  if (pattern == Pattern::kRing && best.exit != last) ChainsTo(pattern, best.exit);
  return PricedChannel{{Write(pattern, best)}, Unscaled(best.cost)};
}

PricingOracle::NearEnds PricingOracle::NearEndsInside(Pattern pattern) const {
  NearEnds ends{{}, std::vector<Cost>(devices_, 0), std::vector<Cost>(devices_, 0)};
  if (pattern != Pattern::kRing) return ends;
  ends.begin = {0};
  for (std::uint32_t device = 1; device < devices_; ++device) {
    ends.head[device] = Between(0, device);
    ends.tail[device] = Between(device, 0);
  }
  return ends;
}

PricingOracle::NearEnds PricingOracle::NearEndsOf(Pattern pattern, const NearChoice& choice) const {
  const Cost* const in = &in_[choice.entry * devices_];
  if (pattern == Pattern::kRing) {
    const Cost* const out = &out_[choice.exit * devices_];
    return {{}, {in, in + devices_}, {out, out + devices_}};
  }
  NearEnds ends{{}, {in, in + devices_}, std::vector<Cost>(devices_, 0)};
  const auto add = [](Cost a, Cost b) { return std::min(kFar, a + b); };
  if (pattern == Pattern::kTree) {
    for (std::uint32_t device = 0; device < devices_; ++device)
      ends.head[device] = add(in[device], out_[choice.exit * devices_ + device]);
    return ends;
  }
  const Cost* const half = &half_out_[choice.exit * devices_];
  ends.begin = {choice.first};
  ends.begin_cost = std::int64_t{in[choice.first]} + half[choice.first];
  for (std::uint32_t second = 0; second < devices_; ++second)
    ends.head[second] =
        second == choice.first ? kFar : add(Between(choice.first, second), half[second]);
  return ends;
}

/// Choices of the ends of channels, the lowest bound first.
std::vector<PricingOracle::NearChoice> PricingOracle::NearChoices(Pattern pattern,
                                                                  CrossNic crossing) const {
  const auto least = [](const std::vector<Cost>& costs) {
    return *std::min_element(costs.begin(), costs.end());
  };
  std::vector<NearChoice> list;
  for (std::uint32_t exit = 0; exit < table_.net_count(); ++exit)
    for (std::uint32_t entry = 0; entry < table_.net_count(); ++entry) {
      if (!MayPass(entry, exit, pattern, crossing)) continue;
      NearChoice best{std::numeric_limits<std::int64_t>::max(), entry, exit, 0};
      for (std::uint32_t first = 0; first < devices_; ++first) {
        const NearEnds ends = NearEndsOf(pattern, {0, entry, exit, first});
        const std::int64_t at_least = ends.begin_cost + least(ends.head) + least(ends.tail);
        if (at_least < best.at_least) best = {at_least, entry, exit, first};
        if (pattern != Pattern::kBalancedTree) break;  // the first device makes no difference
      }
      list.push_back(best);
    }
  const auto promises_more = [](const NearChoice& a, const NearChoice& b) {
    return a.at_least < b.at_least;
  };
  std::stable_sort(list.begin(), list.end(), promises_more);
  list.resize(std::min(list.size(), kNearEndsMax));
  return list;
}

/// \return the cost and the order of all devices
std::pair<std::int64_t, std::vector<std::uint32_t>> PricingOracle::NearOrder(const NearEnds& ends) {
  std::vector<std::uint32_t> rest;
  for (std::uint32_t device = 0; device < devices_; ++device)
    if (std::find(ends.begin.begin(), ends.begin.end(), device) == ends.begin.end())
      rest.push_back(device);
  ChainCosts costs;
  costs.devices = static_cast<std::uint32_t>(rest.size());
  for (const std::uint32_t to : rest) {
    costs.head.push_back(ends.head[to]);
    costs.tail.push_back(ends.tail[to]);
    for (const std::uint32_t from : rest)
      costs.between.push_back(from == to ? 0 : Between(from, to));
  }
  const std::vector<std::uint32_t> near = NearChain(costs, work_);
  std::vector<std::uint32_t> order = ends.begin;
  for (const std::uint32_t at : near) order.push_back(rest[at]);
  return {ends.begin_cost + costs.Of(near), order};
}

std::optional<PricingOracle::PricedChannel> PricingOracle::FindNear(Pattern pattern,
                                                                    CrossNic crossing,
                                                                    const Prices& prices) {
  PriceRoutes(pattern, prices);
  std::int64_t least = kFar;
  LocalChannel best;
  const auto look = [&](const NearEnds& ends) {
    auto [cost, order] = NearOrder(ends);
    if (cost >= least) return false;
    least = cost;
    best.devices = std::move(order);
    return true;
  };
  if (!multi_node_) look(NearEndsInside(pattern));
  for (const NearChoice& choice :
       multi_node_ ? NearChoices(pattern, crossing) : std::vector<NearChoice>()) {
    if (choice.at_least >= least) break;
    if (!look(NearEndsOf(pattern, choice))) continue;
    best.entry = choice.entry;
    best.exit = choice.exit;
  }
  if (best.devices.empty()) return std::nullopt;
  return PricedChannel{{best}, Unscaled(least)};
}

}  // namespace ringlet::plan
