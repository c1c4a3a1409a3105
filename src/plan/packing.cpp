#include "plan/packing.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "plan/channel_ways.hpp"
#include "plan/limits.hpp"

namespace ringlet::plan {
namespace {

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kSolveBudget = 1'500'000;  // of Packings' budget, for one
constexpr std::int64_t kNear = 512;               // bound and value differ by this part
constexpr int kPriceShift = 12;  // of prices, beyond kFluidOne, before capacities divide
constexpr int kCrowdingShift = 16;
constexpr std::int64_t kCrowdingMax = std::int64_t{1} << 30;
constexpr int kSquareShift = 20;
constexpr int kInverseShift = 10;
constexpr int kImprovementsMax = 32;
constexpr std::size_t kExchangeWork = 30;  // of a column
constexpr std::int64_t kTooFull = std::int64_t{1} << 31;

}  // namespace

Packing::Packing(WayTable& table, const NetChoice& nets, CheapestChannel& cheapest, Pattern pattern,
                 Crossing crossing, std::uint32_t scale, std::int64_t& budget)
    : table_(table),
      nets_(nets),
      cheapest_(cheapest),
      pattern_(pattern),
      crossing_(crossing),
      scale_(std::max(scale, 1u)),
      weight_(crossing == Crossing::kPairs ? 2 : 1),
      capacities_(table.bandwidths()),
      budget_(budget),
      bound_(topology::kLocalLink.mb_per_s) {
  std::vector<std::int64_t> ports(nets.port_count(), 0);
  for (std::uint32_t net = 0; net < table.net_count(); ++net)
    ports[nets.PortOf(net)] = std::max(ports[nets.PortOf(net)], table.NetMbPerS(net));
  for (int i = 0; i < 2; ++i) capacities_.insert(capacities_.end(), ports.begin(), ports.end());
  row_of_.assign(capacities_.size(), kNoRow);
}

std::uint32_t Packing::Solve(std::int64_t enough) {
  std::uint32_t rounds = 0;
  const std::int64_t least = budget_ - kSolveBudget;
  while (!solved_ && bound_ > enough && budget_ > std::max<std::int64_t>(least, 0)) {
    ++rounds;
    const Prices prices = PricesNow();
    std::optional<CheapestChannel::Found> found = Cheapest(prices);
    if (!found || !LowerBound(prices, *found) || !Add(*std::move(found))) solved_ = true;
  }
  return rounds;
}

std::optional<CheapestChannel::Found> Packing::Cheapest(const Prices& prices) {
  const std::int64_t before = cheapest_.work();
  std::optional<CheapestChannel::Found> found = cheapest_.Find(pattern_, crossing_, prices);
  budget_ -= cheapest_.work() - before;
  return found;
}

template <typename Price>
Prices Packing::PricesBy(const Price& price) const {
  Prices prices;
  const auto links = static_cast<std::uint32_t>(table_.link_count());
  const std::uint32_t ports = nets_.port_count();
  const auto of = [&](std::uint32_t resource) {
    return capacities_[resource] == 0 ? kPriceMax : std::min(price(resource), kPriceMax);
  };
  for (std::uint32_t i = 0; i < links; ++i) prices.links.push_back(of(i));
  for (std::uint32_t i = 0; i < ports; ++i) prices.in.push_back(of(links + i));
  for (std::uint32_t i = 0; i < ports; ++i) prices.out.push_back(of(links + ports + i));
  return prices;
}

/// What links are worth, per MB/s; at first all are, the narrower the more.
Prices Packing::PricesNow() const {
  return PricesBy([&](std::uint32_t resource) {
    const std::uint32_t row = row_of_[resource];
    const std::int64_t worth = columns_.empty() ? kFluidOne
                               : row == kNoRow  ? 0
                                                : std::max<std::int64_t>(fluid_.prices()[row], 0);
    return (worth << kPriceShift) / capacities_[resource];
  });
}

/// \return whether there may be more than there is
bool Packing::LowerBound(const Prices& prices, const CheapestChannel::Found& found) {
  std::int64_t worth = 0;
  std::size_t resource = 0;
  for (const std::vector<std::int64_t>* list : {&prices.links, &prices.in, &prices.out})
    for (const std::int64_t price : *list) worth += kCostUnits * capacities_[resource++] * price;
  if (found.cost <= 0) return true;
  bound_ =
      std::min(bound_, worth / found.cost * weight_ + worth % found.cost * weight_ / found.cost);
  return bound_ - Value() > bound_ / kNear;
}

std::int64_t Packing::Value() const {
  std::int64_t sum = 0;
  for (const auto& [column, amount] : fluid_.Amounts()) sum += amount;
  return (sum >> 12) * weight_ * scale_ >> 20;
}

std::uint32_t Packing::RowOf(std::uint32_t resource) {
  if (row_of_[resource] == kNoRow) {
    row_of_[resource] = fluid_.AddRow();
    resource_of_.push_back(resource);
  }
  return row_of_[resource];
}

/// \return whether that makes anything more
bool Packing::Add(CheapestChannel::Found found) {
  if (!Append(std::move(found))) return false;
  const auto number = static_cast<std::uint32_t>(columns_.size()) - 1;
  std::vector<FluidPacking::Need> scaled;
  for (const FluidPacking::Need& need : columns_.back().needs) {
    const std::int64_t part = need.amount * scale_;
    const std::int64_t whole = kCostUnits * capacities_[resource_of_[need.row]];
    scaled.push_back({need.row, (part / whole << 32) + (part % whole << 20) / whole * (1 << 12)});
  }
  const std::int64_t before = fluid_.work();
  const bool entered = fluid_.Enter(number, scaled, kFluidOne * weight_);
  budget_ -= fluid_.work() - before;
  return entered;
}

/// As the last column.
/// \return false if it takes a link that has nothing
bool Packing::Append(CheapestChannel::Found found) {
  std::vector<std::int64_t> taken(capacities_.size(), 0);
  const std::size_t links = table_.link_count(), ports = nets_.port_count();
  for (const LocalChannel& channel : found.channels) {
    ForEachWay(pattern_, channel, [&](EndIndex from, EndIndex to, bool half) {
      const Way& way = table_.Find(from, to);
      for (std::uint32_t i = 0; i < way.count; ++i) {
        const WayStep& step = table_.Steps(way)[i];
        const Charge charge = ChargeOf(step, half ? kCostUnits / 2 : kCostUnits);
        taken[step.link] += charge.forth;
        taken[step.back] += charge.back;
      }
      return true;
    });
    if (channel.entry) taken[links + nets_.PortOf(*channel.entry)] += kCostUnits;
    if (channel.exit) taken[links + ports + nets_.PortOf(*channel.exit)] += kCostUnits;
  }
  Column column{std::move(found.channels), {}};
  for (std::uint32_t resource = 0; resource < taken.size(); ++resource) {
    if (taken[resource] == 0) continue;
    if (capacities_[resource] == 0) return false;
    column.needs.push_back({RowOf(resource), taken[resource]});
  }
  columns_.push_back(std::move(column));
  return true;
}

namespace {

/// How well rows are used: first the fullest, then all.
struct Crowding {
  std::int64_t fullest = 0;
  std::int64_t all = 0;
  auto operator<=>(const Crowding&) const = default;
};

}  // namespace

/// What a unit of a channel that takes kCostUnits fills of a resource.
std::int64_t Packing::InverseOf(std::uint32_t resource) const {
  return (scale_ << (kCrowdingShift + kInverseShift)) / (kCostUnits * capacities_[resource]);
}

/// What channels take of each row while they are chosen.
class Packing::Choice {
 public:
  explicit Choice(Packing& packing) : packing_(packing) { Grow(); }

  const std::vector<std::uint32_t>& counts() const { return counts_; }
  const std::vector<std::int64_t>& loads() const { return loads_; }

  void Put(std::uint32_t column, std::int64_t times) {
    counts_[column] = static_cast<std::uint32_t>(counts_[column] + times);
    for (const FluidPacking::Need& need : packing_.columns_[column].needs) {
      loads_[need.row] += times * need.amount;
      parts_[need.row] = PartOf(need.row, loads_[need.row]);
    }
  }

  Crowding Now() const {
    Crowding crowding;
    for (const std::int64_t part : parts_) {
      crowding.fullest = std::max(crowding.fullest, part);
      crowding.all += Square(part);
    }
    return crowding;
  }

  /// \param now  Now()
  /// \param most  if a row would be fuller, kWorst
  Crowding With(std::uint32_t column, Crowding now, std::int64_t most = kCrowdingMax) const {
    for (const FluidPacking::Need& need : packing_.columns_[column].needs) {
      const std::int64_t part = PartOf(need.row, loads_[need.row] + need.amount);
      if (part > most) return kWorst;
      now.fullest = std::max(now.fullest, part);
      now.all += Square(part) - Square(parts_[need.row]);
    }
    return now;
  }

  /// What else a row would be filled to if a whole channel came.
  std::int64_t PartWithOne(std::uint32_t row) const {
    return PartOf(row, loads_[row] + kCostUnits);
  }

  /// There are more columns and rows than before.
  void Grow() {
    counts_.resize(packing_.columns_.size(), 0);
    loads_.resize(packing_.resource_of_.size(), 0);
    parts_.resize(loads_.size(), 0);
    for (std::size_t row = inverse_.size(); row < loads_.size(); ++row)
      inverse_.push_back(packing_.InverseOf(packing_.resource_of_[row]));
  }

  /// One more, of the column that crowds least.
  void AddBest() {
    const Crowding now = Now();
    Crowding least = kWorst;
    const std::uint32_t best = Best(now, kNoRow, least);
    Put(best, 1);
  }

  /// Exchanges one for another if that crowds less.
  bool Exchange() {
    Crowding least = Now();
    std::uint32_t from = 0, to = kNoRow;
    for (std::uint32_t column = 0; column < counts_.size(); ++column) {
      if (counts_[column] == 0) continue;
      Put(column, -1);
      const std::uint32_t best = Best(Now(), column, least);
      Put(column, 1);
      if (best == kNoRow) continue;
      from = column;
      to = best;
    }
    if (to == kNoRow) return false;
    Put(from, -1);
    Put(to, 1);
    return true;
  }

 private:
  static constexpr Crowding kWorst = {std::numeric_limits<std::int64_t>::max(), 0};

  static std::int64_t Square(std::int64_t part) { return part * part >> kSquareShift; }
  std::int64_t PartOf(std::size_t row, std::int64_t load) const {
    return std::min(load * inverse_[row] >> kInverseShift, kCrowdingMax);
  }

  /// The column that crowds less than `least`, which becomes its; kNoRow if there is none.
  std::uint32_t Best(const Crowding& now, std::uint32_t except, Crowding& least) const {
    std::uint32_t best = kNoRow;
    for (std::uint32_t column = 0; column < counts_.size(); ++column) {
      if (column == except) continue;
      const Crowding here = With(column, now, least.fullest);
      if (here >= least) continue;
      least = here;
      best = column;
    }
    packing_.budget_ -= static_cast<std::int64_t>(counts_.size() * kExchangeWork);
    return best;
  }

  Packing& packing_;
  std::vector<std::uint32_t> counts_;  // by column
  std::vector<std::int64_t> loads_;    // by row
  std::vector<std::int64_t> parts_;    // by row: how full it is
  std::vector<std::int64_t> inverse_;  // of what a row has
};

/// As the fractions say, rounded down; what is missing goes where it crowds least.
void Packing::Spread(std::uint32_t times, Choice& choice) const {
  const auto amounts = fluid_.Amounts();
  std::int64_t sum = 0;
  for (const auto& [column, amount] : amounts) sum += amount;
  std::uint32_t left = times;
  for (const auto& [column, amount] : amounts) {
    const auto count = static_cast<std::uint32_t>(amount * times / sum);
    choice.Put(column, count);
    left -= count;
  }
  for (; left > 0; --left) choice.AddBest();
}

/// Dear is what would be as full as the fullest is now.
Prices Packing::PricesFor(const Choice& choice, std::int64_t fullest) const {
  return PricesBy([&](std::uint32_t resource) {
    const std::uint32_t row = row_of_[resource];
    const std::int64_t part =
        row == kNoRow ? InverseOf(resource) * kCostUnits >> kInverseShift : choice.PartWithOne(row);
    const std::int64_t near =
        std::min<std::int64_t>(part * 256 / std::max<std::int64_t>(fullest, 1), 512);
    const std::int64_t price = near * near * near + (part >= fullest ? kTooFull : 0);
    return (price << 8) / capacities_[resource] + 1;
  });
}

/// Its number, new or not; kNoRow if it takes a link that has nothing.
std::uint32_t Packing::ColumnOf(CheapestChannel::Found found) {
  for (std::uint32_t column = 0; column < columns_.size(); ++column)
    if (columns_[column].channels == found.channels) return column;
  return Append(std::move(found)) ? static_cast<std::uint32_t>(columns_.size()) - 1 : kNoRow;
}

/// Takes channels away one by one, and looks for one that is less in the way.
void Packing::LayAnew(Choice& choice) {
  for (bool better = true; better;) {
    better = false;
    const auto columns = static_cast<std::uint32_t>(choice.counts().size());
    for (std::uint32_t column = 0; column < columns; ++column) {
      if (choice.counts()[column] == 0 || budget_ <= 0) continue;
      const Crowding before = choice.Now();
      choice.Put(column, -1);
      auto found = Cheapest(PricesFor(choice, before.fullest));
      const std::uint32_t other = found ? ColumnOf(*std::move(found)) : kNoRow;
      choice.Grow();
      const bool helps = other != kNoRow && choice.With(other, choice.Now()) < before;
      choice.Put(helps ? other : column, 1);
      better = better || helps;
    }
  }
}

const Packing::Divided& Packing::Divide(std::uint32_t channels, Care care) {
  if (known_.size() <= channels) known_.resize(channels + 1);
  Known& known = known_[channels];
  if (columns_.empty() || channels % weight_ != 0) return known.divided;
  if (known.care && *known.care >= care) return known.divided;
  Choice choice(*this);
  Spread(channels / weight_, choice);
  for (int i = 0; i < kImprovementsMax && budget_ > 0 && choice.Exchange(); ++i) continue;
  if (care == Care::kMuch) LayAnew(choice);
  known.divided = Write(choice);
  known.care = care;
  return known.divided;
}

Packing::Divided Packing::Write(const Choice& choice) const {
  std::vector<std::uint32_t> counts = choice.counts();
  const std::vector<std::int64_t>& loads = choice.loads();
  Divided divided;
  divided.mb_per_s = topology::kLocalLink.mb_per_s;
  for (std::size_t row = 0; row < loads.size(); ++row)
    if (loads[row] > 0)
      divided.mb_per_s =
          std::min(divided.mb_per_s, kCostUnits * capacities_[resource_of_[row]] / loads[row]);
  // One of each in turn, so that the first few channels differ.
  for (bool more = true; more;) {
    more = false;
    for (std::size_t column = 0; column < counts.size(); ++column) {
      if (counts[column] == 0) continue;
      --counts[column];
      more = true;
      for (const LocalChannel& channel : columns_[column].channels)
        divided.channels.push_back(channel);
    }
  }
  return divided;
}

Packing& Packings::Of(Pattern pattern, Crossing crossing, std::uint32_t scale) {
  if (!beyond_) {
    crossing = Crossing::kSame;
    if (pattern != Pattern::kRing) pattern = Pattern::kTree;
  }
  for (const std::unique_ptr<Packing>& one : made_)
    if (one->pattern() == pattern && one->crossing() == crossing) return *one;
  made_.push_back(std::make_unique<Packing>(table_, nets_, cheapest_, pattern, crossing, scale,
                                            pattern == Pattern::kRing ? of_rings_ : of_trees_));
  return *made_.back();
}

std::int64_t Packings::BoundOf(GraphId id, std::int64_t enough, std::uint32_t bound) {
  const auto bound_of = [&](Pattern pattern, Crossing crossing) {
    Packing& packing = Of(pattern, crossing, bound);
    packing.Solve(enough);
    return packing.bound();
  };
  std::int64_t most = 0;
  if (id == GraphId::kRing) {
    most = bound_of(Pattern::kRing, Crossing::kAny);
  } else {
    most = bound_of(Pattern::kBalancedTree, Crossing::kAny);
    if (most < bound) most = std::max(most, bound_of(Pattern::kTree, Crossing::kSame));
  }
  return std::min<std::int64_t>(most, bound);
}

}  // namespace ringlet::plan
