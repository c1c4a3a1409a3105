#include "plan/packing/packing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "plan/routes/channel_ways.hpp"
#include "plan/routes/limits.hpp"

namespace ringlet::plan {
namespace {

__extension__ using Wide = __int128;

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kSolveBudget = 1'500'000;  // per packing, out of the budget of Packings
constexpr std::int64_t kNearBound = 512;  // Solve() stops at a gap of this part of the bound
constexpr std::int64_t kManyDevicesNearBound = 128;  // the last percent takes longest
constexpr std::int64_t kManyDevicesWorkFactor = 16;  // many devices have as many more orders
constexpr std::int64_t kOneHostWorkFactor = 128;     // the same for one host without NICs
constexpr std::uint32_t kStalledRoundsMax = 64;
constexpr std::int64_t kGapPart = 32;  // a smaller reduction of the gap does not count as progress
constexpr std::int64_t kPriceParts = 8;   // number of parts of a price
constexpr std::int64_t kSteadyParts = 7;  // the parts from the steady prices
constexpr int kPriceShift = 12;           // extra bits of prices before the division by capacities
constexpr std::int64_t kRingWork[] = {8'000, 60'000, 480'000, 3'840'000};   // by Effort
constexpr std::int64_t kTreeWork[] = {8'000, 120'000, 480'000, 3'840'000};  // by Effort
constexpr std::int64_t kOverflowPrice = std::int64_t{1} << 26;

}  // namespace

Packing::Packing(RouteTable& table, const NicSelector& nets, PricingOracle& cheapest,
                 Pattern pattern, CrossNic crossing, std::uint32_t scale, std::int64_t& budget)
    : table_(table),
      nets_(nets),
      cheapest_(cheapest),
      pattern_(pattern),
      crossing_(crossing),
      scale_(std::max(scale, 1u)),
      capacities_(table.bandwidths()),
      budget_(budget),
      near_(!cheapest.few()),
      bound_(topology::kLocalLink.mb_per_s),
      steady_bound_(bound_) {
  std::vector<std::int64_t> ports(nets.port_count(), 0);
  for (std::uint32_t net = 0; net < table.net_count(); ++net)
    ports[nets.PortOf(net)] = std::max(ports[nets.PortOf(net)], table.NetMbPerS(net));
  for (int i = 0; i < 2; ++i) capacities_.insert(capacities_.end(), ports.begin(), ports.end());
  row_of_.assign(capacities_.size(), kNoRow);
  prices_.links.resize(table.link_count());
  prices_.in.resize(ports.size());
  prices_.out.resize(ports.size());
  FindUnits();
}

std::uint32_t Packing::Solve(std::int64_t enough) {
  std::uint32_t rounds = 0;
  const std::int64_t least =
      budget_ - (cheapest_.few() ? kSolveBudget : kManyDevicesFactor * kSolveBudget);
  while (!solved_ && bound_ > enough && budget_ > std::max<std::int64_t>(least, 0)) {
    ++rounds;
    const Prices& prices = PricesNow();
    std::optional<PricingOracle::PricedChannel> found = Cheapest(prices, near_);
    const bool more = found && LowerBound(prices, *found) && !UpdateStall();
    if (more && Add(*std::move(found))) {
      smooth_ = true;
    } else if (more && smooth_ && !cheapest_.few()) {
      smooth_ = false;
    } else {
      NoMore();
    }
  }
  return rounds;
}

/// Returns true if many rounds hardly reduced the gap between value and bound. Affects many devices
/// only: if many links fill up at once, channels can replace each other without end.
bool Packing::UpdateStall() {
  if (cheapest_.few()) return false;
  const std::int64_t gap = steady_bound_ - Value();
  if (++stalled_ > 1 && gap + gap / kGapPart > gap_) return stalled_ > kStalledRoundsMax;
  gap_ = gap;
  stalled_ = 1;
  return false;
}

/// With many devices, Solve() adds cheap channels first. The cheapest ones then prove the bound.
void Packing::NoMore() {
  solved_ = !near_ || !cheapest_.exact();
  near_ = false;
  smooth_ = true;
  stalled_ = 0;
  steady_bound_ = topology::kLocalLink.mb_per_s;
}

std::optional<PricingOracle::PricedChannel> Packing::Cheapest(const Prices& prices, bool near) {
  const std::int64_t before = cheapest_.work();
  std::optional<PricingOracle::PricedChannel> found =
      near ? cheapest_.FindNear(pattern_, crossing_, prices)
           : cheapest_.Find(pattern_, crossing_, prices);
  budget_ -= cheapest_.work() - before;
  return found;
}

template <typename Price>
const Prices& Packing::PricesBy(const Price& price) {
  std::uint32_t resource = 0;
  for (std::vector<std::int64_t>* list : {&prices_.links, &prices_.in, &prices_.out})
    for (std::int64_t& one : *list) {
      one = capacities_[resource] == 0 ? kPriceMax : std::min(price(resource), kPriceMax);
      ++resource;
    }
  return prices_;
}

/// The prices of links per MB/s. At first all links have the same value, so that narrow links cost
/// more per MB/s. With many devices, prices that jump from round to round would find useless
/// channels. They therefore move only a part of the way from the steady prices. With few devices, a
/// larger choice of channels is worth more.
/// Source  smoothing: P. Wentges, Weighted Dantzig-Wolfe decomposition for linear mixed-integer
///         programming, 1997
const Prices& Packing::PricesNow() {
  const bool steady = smooth_ && !cheapest_.few() && !steady_.empty();
  const std::int64_t steady_parts = steady ? kSteadyParts : 0;
  return PricesBy([&](std::uint32_t resource) {
    const std::uint32_t row = row_of_[resource];
    const std::int64_t worth = columns_.count() == 0 ? kFluidOne
                               : row == kNoRow       ? 0
                                               : std::max<std::int64_t>(fluid_.prices()[row], 0);
    const std::int64_t now = (worth << kPriceShift) / capacities_[resource];
    return steady_parts == 0 ? now : now + (steady_[resource] - now) * steady_parts / kPriceParts;
  });
}

/// \return true if the gap between value and bound is still too large
bool Packing::LowerBound(const Prices& prices, const PricingOracle::PricedChannel& found) {
  std::int64_t worth = 0;
  std::size_t resource = 0;
  for (const std::vector<std::int64_t>* list : {&prices.links, &prices.in, &prices.out})
    for (const std::int64_t price : *list) worth += kCostUnits * capacities_[resource++] * price;
  if (found.cost <= 0) return true;
  const std::int64_t bound = worth / found.cost;
  if (bound < steady_bound_) {
    steady_bound_ = bound;
    StoreScaledPrices(prices, found.cost);
  }
  if (!near_ && bound < bound_) {
    bound_ = bound;
    StoreBoundPrices(prices, found.cost);
  }
  return steady_bound_ - Value() > steady_bound_ / (near_ ? kManyDevicesNearBound : kNearBound);
}

/// Stores the prices, scaled so that a channel costs as much as the known ones.
void Packing::StoreScaledPrices(const Prices& prices, std::int64_t cost) {
  const Wide one = (Wide{kFluidOne} << kPriceShift) * kCostUnits / scale_;
  steady_.clear();
  for (const std::vector<std::int64_t>* list : {&prices.links, &prices.in, &prices.out})
    for (const std::int64_t price : *list)
      steady_.push_back(static_cast<std::int64_t>(std::min<Wide>(price * one / cost, kPriceMax)));
}

/// Stores the prices that prove the bound.
void Packing::StoreBoundPrices(const Prices& prices, std::int64_t cost) {
  worth_.clear();
  worth_cost_ = cost;
  std::uint32_t resource = 0;
  for (const std::vector<std::int64_t>* list : {&prices.links, &prices.in, &prices.out})
    for (const std::int64_t price : *list) {
      if (price > 0 && capacities_[resource] > 0) worth_.emplace_back(resource, price);
      ++resource;
    }
}

std::vector<Packing::ResourceShare> Packing::Shares() const {
  Wide all = 0;
  for (const auto& [resource, price] : worth_) all += Wide{capacities_[resource]} * price;
  std::vector<ResourceShare> shares;
  for (const auto& [resource, price] : worth_) {
    const Wide part = Wide{capacities_[resource]} * price * 1000 / all;
    if (part > 0) shares.push_back({resource, static_cast<std::uint32_t>(part)});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.per_mille > b.per_mille; });
  return shares;
}

std::int64_t Packing::Value() const {
  std::int64_t sum = 0;
  for (const auto& [column, amount] : fluid_.Amounts()) sum += amount;
  return (sum >> 12) * scale_ >> 20;
}

std::uint32_t Packing::RowOf(std::uint32_t resource) {
  if (row_of_[resource] == kNoRow) {
    row_of_[resource] = fluid_.AddRow();
    resource_of_.push_back(resource);
  }
  return row_of_[resource];
}

/// \return true if the channel increases the total
bool Packing::Add(PricingOracle::PricedChannel found) {
  if (!Append(std::move(found))) return false;
  const auto number = columns_.count() - 1;
  std::vector<LpMaster::Need> scaled;
  for (const LpMaster::Need& need : columns_.of(number)) {
    const std::int64_t part = need.amount * scale_;
    const std::int64_t whole = kCostUnits * capacities_[resource_of_[need.row]];
    scaled.push_back({need.row, (part / whole << 32) + (part % whole << 20) / whole * (1 << 12)});
  }
  const std::int64_t before = fluid_.work();
  const bool entered = fluid_.Enter(number, scaled, kFluidOne);
  budget_ -= fluid_.work() - before;
  return entered;
}

/// Appends the channel as the last column.
/// \return false if it uses a link without bandwidth
bool Packing::Append(PricingOracle::PricedChannel found) {
  std::vector<std::int64_t>& taken = taken_;
  taken.assign(capacities_.size(), 0);
  const std::size_t links = table_.link_count(), ports = nets_.port_count();
  for (const LocalChannel& channel : found.channels) {
    ForEachRoute(pattern_, channel, [&](EndIndex from, EndIndex to, bool half) {
      const Route& route = table_.Find(from, to);
      for (std::uint32_t i = 0; i < route.count; ++i) {
        const RouteStep& step = table_.Steps(route)[i];
        const Charge charge = ChargeOf(step, half ? kCostUnits / 2 : kCostUnits);
        taken[step.link] += charge.forth;
        taken[step.back] += charge.back;
      }
      return true;
    });
    if (channel.entry) taken[links + nets_.PortOf(*channel.entry)] += kCostUnits;
    if (channel.exit) taken[links + ports + nets_.PortOf(*channel.exit)] += kCostUnits;
  }
  Columns::Needs needs;
  for (std::uint32_t resource = 0; resource < taken.size(); ++resource) {
    if (taken[resource] == 0) continue;
    if (capacities_[resource] == 0) return false;
    needs.push_back({RowOf(resource), taken[resource]});
  }
  // Scarce links are first, so that a check for room fails early.
  std::sort(needs.begin(), needs.end(), [&](const auto& a, const auto& b) {
    return capacities_[resource_of_[a.row]] * b.amount <
           capacities_[resource_of_[b.row]] * a.amount;
  });
  columns_.Add(std::move(needs));
  channels_.push_back(std::move(found.channels));
  return true;
}

/// Finds the unit of each resource. Channels use a multiple of it.
void Packing::FindUnits() {
  units_.assign(capacities_.size(), 0);
  std::fill(units_.begin() + static_cast<std::ptrdiff_t>(table_.link_count()), units_.end(),
            kCostUnits);
  const auto add = [&](EndIndex from, EndIndex to, std::int64_t part) {
    const Route& route = table_.Find(from, to);
    for (std::uint32_t i = 0; i < route.count; ++i) {
      const RouteStep& step = table_.Steps(route)[i];
      const Charge charge = ChargeOf(step, part);
      for (const auto& [link, amount] :
           {std::pair(step.link, charge.forth), std::pair(step.back, charge.back)})
        if (amount != units_[link]) units_[link] = std::gcd(units_[link], amount);
    }
  };
  for (std::uint32_t a = 0; a < table_.device_count(); ++a) {
    const EndIndex device{End::kDevice, a};
    for (std::uint32_t b = 0; b < table_.device_count(); ++b)
      if (a != b) add(device, {End::kDevice, b}, kCostUnits);
    for (std::uint32_t net = 0; net < table_.net_count(); ++net) {
      add({End::kNet, net}, device, kCostUnits);
      add(device, {End::kNet, net},
          pattern_ == Pattern::kBalancedTree ? kCostUnits / 2 : kCostUnits);
    }
  }
}

/// The room of a resource in kCostUnits if each channel has `mb_per_s`.
std::int64_t Packing::RoomOf(std::uint32_t resource, std::int64_t mb_per_s) const {
  const std::int64_t room = kCostUnits * capacities_[resource] / mb_per_s;
  return units_[resource] > 1 ? room - room % units_[resource] : room;
}

/// RoomOf() of each row.
std::vector<std::int64_t> Packing::RoomFor(std::int64_t mb_per_s) const {
  std::vector<std::int64_t> room;
  for (const std::uint32_t resource : resource_of_) room.push_back(RoomOf(resource, mb_per_s));
  return room;
}

void Packing::FindRooms(std::int64_t mb_per_s) {
  for (std::uint32_t resource = 0; resource < capacities_.size(); ++resource)
    rooms_.push_back(RoomOf(resource, mb_per_s));
}

/// The largest bandwidth that each channel can have.
std::int64_t Packing::WidthOf(const IntegerRounding& whole) const {
  std::int64_t width = topology::kLocalLink.mb_per_s;
  const std::vector<std::int64_t>& loads = whole.loads();
  for (std::size_t row = 0; row < loads.size(); ++row)
    if (loads[row] > 0)
      width = std::min(width, kCostUnits * capacities_[resource_of_[row]] / loads[row]);
  return width;
}

/// Rounds the fractions down, and adds the missing channels where they overflow least.
IntegerRounding Packing::Spread(std::uint32_t times, std::int64_t mb_per_s) const {
  IntegerRounding whole(columns_);
  const auto amounts = fluid_.Amounts();
  std::int64_t sum = 0;
  for (const auto& [column, amount] : amounts) sum += amount;
  std::uint32_t left = times;
  for (const auto& [column, amount] : amounts) {
    const auto count = static_cast<std::uint32_t>(amount * times / sum);
    whole.Put(column, count);
    left -= count;
  }
  whole.AddBest(left, RoomFor(mb_per_s));
  return whole;
}

/// Prices for one more channel: high for resources that would overflow, and otherwise by how full a
/// resource is. Call it after FindRooms().
const Prices& Packing::PricesFor(const IntegerRounding::Rows& rows) {
  return PricesBy([&](std::uint32_t resource) -> std::int64_t {
    const std::uint32_t row = row_of_[resource];
    const bool known = row != kNoRow && row < rows.room.size();
    const std::int64_t load = known ? rows.loads[row] : 0;
    const std::int64_t weight = known ? rows.weights[row] : 1;
    const std::int64_t room = rooms_[resource];
    const std::int64_t over = std::clamp<std::int64_t>(load + kCostUnits - room, 0, kCostUnits);
    // 32-bit division is faster.
    const std::int64_t near = room <= (load + kCostUnits) / 2
                                  ? 512
                                  : static_cast<std::uint32_t>((load + kCostUnits) * 256) /
                                        static_cast<std::uint32_t>(room);
    return weight * over * kOverflowPrice + near * near * near + 1;
  });
}

std::int64_t Packing::WorkFactor() const {
  if (cheapest_.few()) return 1;
  return cheapest_.multi_node() ? kManyDevicesWorkFactor : kOneHostWorkFactor;
}

/// Returns true if the prices of bound_ leave room for so many channels of that width.
bool Packing::MayFit(std::uint32_t channels, std::int64_t mb_per_s) const {
  if (worth_.empty()) return true;
  Wide sum = 0;
  for (const auto& [resource, price] : worth_) sum += Wide{RoomOf(resource, mb_per_s)} * price;
  return sum >= Wide{worth_cost_} * channels;
}

std::int64_t Packing::BoundOfEqual(std::int64_t least, std::uint32_t channels_max) const {
  std::int64_t most = std::min(least, bound_);
  for (std::uint32_t channels = 1; channels <= channels_max; ++channels) {
    std::int64_t fits = most / channels, too_wide = bound_ / channels + 1;
    if (fits + 1 >= too_wide || !MayFit(channels, fits + 1)) continue;
    for (++fits; fits + 1 < too_wide;) {
      const std::int64_t middle = fits + (too_wide - fits) / 2;
      (MayFit(channels, middle) ? fits : too_wide) = middle;
    }
    most = fits * channels;
  }
  return most;
}

const Packing::Divided& Packing::Divide(std::uint32_t channels, std::int64_t least,
                                        std::int64_t most, Effort effort) {
  if (known_.size() <= channels) known_.resize(channels + 1);
  KnownPacking& known = known_[channels];
  if (columns_.count() == 0) return known.divided;
  if (effort > known.effort) known.failed = kNeverFailed;
  known.effort = std::max(known.effort, effort);
  if (known.divided.mb_per_s >= least || known.failed <= least) return known.divided;
  IntegerRounding whole = Spread(channels, least);
  std::optional<IntegerRounding> best;
  const auto fits = [&](std::int64_t mb_per_s) {
    const std::int64_t* const work = pattern_ == Pattern::kRing ? kRingWork : kTreeWork;
    return Fit(whole, mb_per_s, WorkFactor() * work[static_cast<std::size_t>(effort)]);
  };
  std::int64_t next = std::min(std::max(WidthOf(whole), least), most);
  for (; next <= most && next < known.failed; next = WidthOf(whole) + 1) {
    bool wide = MayFit(channels, next);
    if (wide && !fits(next)) {
      // A plan that grew step by step can be a dead end.
      if (best) whole = Spread(channels, next);
      wide = best && fits(next);
    }
    if (!wide) {
      known.failed = next;
      break;
    }
    best = whole;
  }
  if (best) known.divided = Write(*best);
  return known.divided;
}

/// Gives each channel `mb_per_s` if possible.
bool Packing::Fit(IntegerRounding& whole, std::int64_t mb_per_s, std::int64_t work_max) {
  std::vector<std::int64_t> room = RoomFor(mb_per_s);
  const auto may = [&] { return budget_ > 0 && ask_credit_ > 0; };
  const auto find = [&](const IntegerRounding::Rows& rows) -> const std::vector<std::int64_t>* {
    const std::int64_t before = budget_;
    if (rooms_.empty()) FindRooms(mb_per_s);
    auto found = Cheapest(PricesFor(rows), !cheapest_.few());
    ask_credit_ -= before - budget_;
    if (!found || HasChannel(*found) || !Append(*std::move(found))) return nullptr;
    room = RoomFor(mb_per_s);
    return &room;
  };
  if (budget_ <= 0) work_max = 0;
  std::int64_t work = 0;
  ask_credit_ = work_max;
  rooms_.clear();
  const bool fits = whole.Fit(room, work_max, {may, find}, work);
  budget_ -= work;
  return fits;
}

bool Packing::HasChannel(const PricingOracle::PricedChannel& found) const {
  return std::find(channels_.begin(), channels_.end(), found.channels) != channels_.end();
}

Packing::Divided Packing::Write(const IntegerRounding& whole) const {
  std::vector<std::uint32_t> counts = whole.counts();
  Divided divided;
  divided.mb_per_s = WidthOf(whole);
  // Takes one channel of each column in turn, so that the first few channels differ.
  for (bool more = true; more;) {
    more = false;
    for (std::size_t column = 0; column < counts.size(); ++column) {
      if (counts[column] == 0) continue;
      --counts[column];
      more = true;
      for (const LocalChannel& channel : channels_[column]) divided.channels.push_back(channel);
    }
  }
  return divided;
}

Packing& Packings::Of(Pattern pattern, CrossNic crossing, std::uint32_t scale) {
  if (!multi_node_) {
    crossing = CrossNic::kSame;
    if (pattern != Pattern::kRing) pattern = Pattern::kTree;
  }
  for (const std::unique_ptr<Packing>& one : made_)
    if (one->pattern() == pattern && one->crossing() == crossing) return *one;
  made_.push_back(std::make_unique<Packing>(table_, nets_, cheapest_, pattern, crossing, scale,
                                            pattern == Pattern::kRing ? of_rings_ : of_trees_));
  return *made_.back();
}

template <typename BoundOfOne>
std::int64_t Packings::MostOf(GraphId id, std::uint32_t bound, const BoundOfOne& bound_of_one) {
  const auto bound_of = [&](Pattern pattern, CrossNic crossing) {
    return bound_of_one(Of(pattern, crossing, bound));
  };
  std::int64_t most = 0;
  if (id == GraphId::kRing) {
    most = bound_of(Pattern::kRing, CrossNic::kAny);
  } else {
    most = bound_of(Pattern::kBalancedTree, CrossNic::kAny);
    if (most < bound) most = std::max(most, bound_of(Pattern::kTree, CrossNic::kSame));
  }
  return std::min<std::int64_t>(most, bound);
}

std::int64_t Packings::BoundOf(GraphId id, std::int64_t enough, std::uint32_t bound) {
  return MostOf(id, bound, [&](Packing& packing) {
    packing.Solve(enough);
    return packing.bound();
  });
}

std::int64_t Packings::BoundOfEqual(GraphId id, std::int64_t least, std::uint32_t bound) {
  return MostOf(id, bound, [&](Packing& packing) {
    packing.Solve(least);
    return packing.BoundOfEqual(least, kSearchChannelsMax);
  });
}

}  // namespace ringlet::plan
