#include "plan/cheapest_channel.hpp"

#include <algorithm>
#include <bit>

#include "plan/limits.hpp"

namespace ringlet::plan {
namespace {

constexpr std::int64_t kNoWay = std::int64_t{1} << 58;  // a channel's ways together stay below 2^63

EndIndex DeviceEnd(std::uint32_t device) {
  return {End::kDevice, device};
}
EndIndex NetEnd(std::uint32_t net) {
  return {End::kNet, net};
}

}  // namespace

CheapestChannel::CheapestChannel(WayTable& table, const NetChoice& nets, bool beyond)
    : table_(table), nets_(nets), beyond_(beyond), devices_(table.device_count()) {
  for (const topology::NodeIndex net : table.nets())
    planes_ = planes_ || table.paths().graph().net(net).plane.has_value();
  usable_ = devices_ > 1 && devices_ <= kCheapestDevicesMax && (!beyond || table.net_count() > 0);
}

std::optional<CheapestChannel::Found> CheapestChannel::Find(Pattern pattern, Crossing crossing,
                                                            const Prices& prices) {
  PriceWays(prices);
  chains_.resize((std::size_t{1} << devices_) * devices_);
  if (!beyond_) return FindInside(pattern);
  if (crossing == Crossing::kAny && pattern == Pattern::kRing && !planes_) return FindFreely();
  return FindBeyond(pattern, crossing);
}

std::int64_t CheapestChannel::CostOf(EndIndex from, EndIndex to, std::int64_t part,
                                     const Prices& prices) {
  const Way& way = table_.Find(from, to);
  if (way.type > topology::PathType::kNet) return kNoWay;
  const WayStep* const steps = table_.Steps(way);
  std::int64_t cost = 0;
  for (std::uint32_t i = 0; i < way.count; ++i) {
    const Charge charge = ChargeOf(steps[i], part);
    cost += charge.forth * prices.links[steps[i].link] + charge.back * prices.links[steps[i].back];
  }
  return cost;
}

void CheapestChannel::PriceWays(const Prices& prices) {
  between_.assign(std::size_t{devices_} * devices_, kNoWay);
  for (std::uint32_t a = 0; a < devices_; ++a)
    for (std::uint32_t b = 0; b < devices_; ++b)
      if (a != b)
        between_[a * devices_ + b] = CostOf(DeviceEnd(a), DeviceEnd(b), kCostUnits, prices);
  if (!beyond_) return;
  in_.resize(std::size_t{table_.net_count()} * devices_);
  out_.resize(in_.size());
  half_out_.resize(in_.size());
  for (std::uint32_t net = 0; net < table_.net_count(); ++net) {
    const std::int64_t in = kCostUnits * prices.in[nets_.PortOf(net)];
    const std::int64_t out = kCostUnits * prices.out[nets_.PortOf(net)];
    for (std::uint32_t device = 0; device < devices_; ++device) {
      const std::size_t at = std::size_t{net} * devices_ + device;
      in_[at] = in + CostOf(NetEnd(net), DeviceEnd(device), kCostUnits, prices);
      out_[at] = out + CostOf(DeviceEnd(device), NetEnd(net), kCostUnits, prices);
      half_out_[at] = out / 2 + CostOf(DeviceEnd(device), NetEnd(net), kCostUnits / 2, prices);
    }
  }
}

bool CheapestChannel::MayPass(std::uint32_t entry, std::uint32_t exit, Pattern pattern,
                              Crossing crossing) const {
  if (entry == exit) return true;
  if (crossing == Crossing::kSame || pattern == Pattern::kTree) return false;
  const topology::Graph& graph = table_.paths().graph();
  const topology::NetFacts& in = graph.net(table_.nets()[entry]);
  const topology::NetFacts& out = graph.net(table_.nets()[exit]);
  return !in.plane || !out.plane || in.plane == out.plane;
}

/// Fills in Chain for all sets within `universe`: what the cheapest chain of a set costs that
/// begins at one of it.
/// \param at_end  what it costs to end at a device
void CheapestChannel::Chains(std::uint32_t universe, const std::vector<std::int64_t>& at_end) {
  work_ += std::int64_t{devices_} * devices_ * (std::int64_t{universe} + 1) / 4;
  for (std::uint32_t set = 1; set <= universe; ++set) {
    if ((set & ~universe) != 0) continue;
    for (std::uint32_t firsts = set; firsts != 0; firsts &= firsts - 1) {
      const auto first = static_cast<std::uint32_t>(std::countr_zero(firsts));
      const std::uint32_t rest = set & ~(1u << first);
      std::int64_t least = rest == 0 ? at_end[first] : kNoWay;
      const std::int64_t* const ways = &between_[first * devices_];
      const std::int64_t* const chains = &chains_[rest * devices_];
      for (std::uint32_t nexts = rest; nexts != 0; nexts &= nexts - 1) {
        const int next = std::countr_zero(nexts);
        least = std::min(least, ways[next] + chains[next]);
      }
      Chain(set, first) = least;
    }
  }
}

/// Appends the devices of the cheapest chain of a set that begins at `first`.
void CheapestChannel::Follow(std::uint32_t set, std::uint32_t first,
                             std::vector<std::uint32_t>& order) {
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

std::optional<CheapestChannel::Found> CheapestChannel::FindInside(Pattern pattern) {
  const std::uint32_t all = (1u << devices_) - 1;
  const bool ring = pattern == Pattern::kRing;
  at_end_.assign(devices_, 0);
  for (std::uint32_t last = 1; ring && last < devices_; ++last) at_end_[last] = Between(last, 0);
  const std::uint32_t universe = ring ? all & ~1u : all;
  Chains(universe, at_end_);
  const auto cost = [&](std::uint32_t first) {
    return Chain(universe, first) + (ring ? Between(0, first) : 0);
  };
  std::uint32_t best = ring ? 1 : 0;
  for (std::uint32_t first = best + 1; first < devices_; ++first)
    if (cost(first) < cost(best)) best = first;
  if (cost(best) >= kNoWay) return std::nullopt;
  Found found{{LocalChannel()}, cost(best)};
  if (ring) found.channels[0].devices.push_back(0);
  Follow(universe, best, found.channels[0].devices);
  return found;
}

/// Chains that a channel may go on by once it came in, if it leaves by that NIC.
void CheapestChannel::ChainsTo(Pattern pattern, std::uint32_t exit) {
  at_end_.assign(devices_, 0);
  for (std::uint32_t last = 0; pattern == Pattern::kRing && last < devices_; ++last)
    at_end_[last] = out_[std::size_t{exit} * devices_ + last];
  Chains((1u << devices_) - 1, at_end_);
}

/// After ChainsTo that exit; of trees after any.
CheapestChannel::Ends CheapestChannel::BestEnds(Pattern pattern, std::uint32_t entry,
                                                std::uint32_t exit) {
  const std::uint32_t all = (1u << devices_) - 1;
  const std::int64_t* const in = &in_[std::size_t{entry} * devices_];
  const std::int64_t* const out = &out_[std::size_t{exit} * devices_];
  const std::int64_t* const half = &half_out_[std::size_t{exit} * devices_];
  Ends best{kNoWay, 0, 0};
  for (std::uint32_t first = 0; first < devices_; ++first) {
    if (pattern != Pattern::kBalancedTree) {
      const std::int64_t leave = pattern == Pattern::kTree ? out[first] : 0;
      const std::int64_t cost = in[first] + leave + Chain(all, first);
      if (cost < best.cost) best = {cost, first, first};
      continue;
    }
    const std::uint32_t rest = all & ~(1u << first);
    for (std::uint32_t second = 0; second < devices_; ++second) {
      if (second == first) continue;
      const std::int64_t cost =
          in[first] + half[first] + half[second] + Between(first, second) + Chain(rest, second);
      if (cost < best.cost) best = {cost, first, second};
    }
  }
  return best;
}

/// The cheapest channel between two NICs, after ChainsTo.
LocalChannel CheapestChannel::Write(Pattern pattern, std::uint32_t entry, std::uint32_t exit) {
  const std::uint32_t all = (1u << devices_) - 1;
  const Ends ends = BestEnds(pattern, entry, exit);
  LocalChannel channel;
  channel.entry = entry;
  channel.exit = exit;
  if (pattern == Pattern::kBalancedTree) {
    channel.devices.push_back(ends.first);
    Follow(all & ~(1u << ends.first), ends.second, channel.devices);
  } else {
    Follow(all, ends.first, channel.devices);
  }
  return channel;
}

/// NICs by which channels may leave, those first that may be cheapest.
/// \return a lower bound of the cost, and the NIC
std::vector<std::pair<std::int64_t, std::uint32_t>> CheapestChannel::Exits(Pattern pattern,
                                                                           Crossing crossing) {
  const std::uint32_t nets = table_.net_count();
  const std::uint32_t all = (1u << devices_) - 1;
  at_end_.assign(devices_, 0);
  Chains(all, at_end_);
  std::vector<std::pair<std::int64_t, std::uint32_t>> exits;
  for (std::uint32_t exit = 0; exit < nets; ++exit) {
    std::int64_t least_in = kNoWay, least_out = kNoWay;
    for (std::uint32_t entry = 0; entry < nets; ++entry) {
      if (!MayPass(entry, exit, pattern, crossing)) continue;
      for (std::uint32_t first = 0; first < devices_; ++first)
        least_in =
            std::min(least_in, in_[std::size_t{entry} * devices_ + first] + Chain(all, first));
    }
    for (std::uint32_t last = 0; last < devices_; ++last)
      least_out = std::min(least_out, out_[std::size_t{exit} * devices_ + last]);
    exits.emplace_back(least_in + (pattern == Pattern::kRing ? least_out : 0), exit);
  }
  std::sort(exits.begin(), exits.end());
  return exits;
}

/// The NIC by which it costs least to leave from a device, or to come in to it.
std::uint32_t CheapestChannel::CheapestNet(const std::vector<std::int64_t>& costs,
                                           std::uint32_t device) const {
  std::uint32_t best = 0;
  for (std::uint32_t net = 1; net < table_.net_count(); ++net)
    if (costs[net * devices_ + device] < costs[best * devices_ + device]) best = net;
  return best;
}

/// A ring that may leave by whichever NIC.
std::optional<CheapestChannel::Found> CheapestChannel::FindFreely() {
  const std::uint32_t all = (1u << devices_) - 1;
  at_end_.assign(devices_, 0);
  for (std::uint32_t last = 0; last < devices_; ++last)
    at_end_[last] = out_[CheapestNet(out_, last) * devices_ + last];
  Chains(all, at_end_);
  const auto cost = [&](std::uint32_t first) {
    return in_[CheapestNet(in_, first) * devices_ + first] + Chain(all, first);
  };
  std::uint32_t best = 0;
  for (std::uint32_t first = 1; first < devices_; ++first)
    if (cost(first) < cost(best)) best = first;
  if (cost(best) >= kNoWay) return std::nullopt;
  Found found{{LocalChannel()}, cost(best)};
  LocalChannel& channel = found.channels.front();
  Follow(all, best, channel.devices);
  channel.entry = CheapestNet(in_, best);
  channel.exit = CheapestNet(out_, channel.devices.back());
  return found;
}

std::optional<CheapestChannel::Found> CheapestChannel::FindBeyond(Pattern pattern,
                                                                  Crossing crossing) {
  std::int64_t least = kNoWay;
  std::uint32_t best_in = 0, best_out = 0;
  for (const auto& [at_least, exit] : Exits(pattern, crossing)) {
    if (at_least >= least) break;
    if (pattern == Pattern::kRing) ChainsTo(pattern, exit);
    for (std::uint32_t entry = 0; entry < table_.net_count(); ++entry) {
      if (!MayPass(entry, exit, pattern, crossing)) continue;
      const std::int64_t cost = BestEnds(pattern, entry, exit).cost;
      if (cost >= least) continue;
      least = cost;
      best_in = entry;
      best_out = exit;
    }
  }
  if (least >= kNoWay) return std::nullopt;
  if (pattern == Pattern::kRing) ChainsTo(pattern, best_out);
  return Found{{Write(pattern, best_in, best_out)}, least};
}

}  // namespace ringlet::plan
