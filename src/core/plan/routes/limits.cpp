#include "plan/routes/limits.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace ringlet::plan {
namespace {

using topology::Graph;
using topology::LinkKind;
using topology::NodeIndex;
using topology::NodeKind;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

/// The cost of `channels` on the cheapest ports. kNever if the ports lack room for them.
/// \param unit  MB/s of a channel
std::int64_t Cheapest(const std::vector<PortCost>& ports, std::int64_t channels,
                      std::int64_t unit) {
  if (ports.empty()) return 0;
  std::int64_t sum = 0;
  for (const PortCost& port : ports) {
    const std::int64_t here = std::min(channels, port.mb_per_s / unit);
    sum += here * port.cost;
    channels -= here;
    if (channels == 0) return sum;
  }
  return kNever;
}

std::int64_t Paid(const MinLoad& min_load, std::int64_t channels, std::int64_t unit) {
  const std::int64_t in = Cheapest(min_load.in, channels, unit);
  const std::int64_t out = Cheapest(min_load.out, channels, unit);
  return in >= kNever || out >= kNever ? kNever : channels * min_load.each + in + out;
}

std::int64_t CapacityOf(const Limit& limit) {
  std::int64_t capacity = 0;
  for (const std::int64_t one : limit.mb_per_s) capacity += one;
  return capacity * kCostUnits;
}

bool Allows(const Limit& limit, std::int64_t channels, std::int64_t mb_per_s) {
  const std::int64_t load = Paid(limit.load, channels, mb_per_s);
  if (load >= kNever || CapacityOf(limit) < mb_per_s * load) return false;
  const std::int64_t wanted = Paid(limit.passages, channels, mb_per_s);
  std::int64_t places = 0, of_one = 0, last = -1;
  for (const std::int64_t one : limit.mb_per_s) {
    if (places >= wanted) return true;
    if (one != last) of_one = one * kCostUnits / (mb_per_s * limit.cost);  // most links are equal
    last = one;
    places += of_one;
  }
  return places >= wanted;
}

/// The cost of one route on the links of one class.
struct ClassCost {
  std::int64_t load = 0;
  std::int64_t passages = 0;
};

/// By class: the minimum cost of a route from an end, or to an end.
using Least = std::vector<ClassCost>;

void Lower(Least& least, const Least& costs) {
  for (std::size_t i = 0; i < least.size(); ++i) {
    least[i].load = std::min(least[i].load, costs[i].load);
    least[i].passages = std::min(least[i].passages, costs[i].passages);
  }
}

/// The routes that pass a link. Each entry is a bit set of devices or NICs, by device.
struct RoutesThroughLink {
  std::vector<std::uint64_t> from, to;  ///< receivers by sender, and senders by receiver
  std::vector<std::uint64_t> out, in;   ///< NICs by sender, and NICs by receiver
  std::int64_t cost = kNever;           ///< minimum cost of one crossing
  std::uint32_t back = 0;               ///< the link in the opposite direction
};

}  // namespace

class LimitFinder {
 public:
  LimitFinder(RouteTable& table, const NicSelector& nets, GraphId id, bool multi_node)
      : table_(table), nets_(nets), ring_(id == GraphId::kRing), multi_node_(multi_node) {}

  void Find(Limits& limits, Limits::Detail detail) {
    list_ = &limits.list_;
    AddNics();
    AddDevices(limits.widest_);
    if (detail == Limits::Detail::kEnds) return;
    const std::uint32_t devices = table_.device_count();
    if (devices > kLimitsEndsMax || table_.net_count() > kLimitsEndsMax) return;
    if (devices < 2 && !multi_node_) return;
    Classify();
    number_.assign(table_.link_count(), 0);
    loaded_.assign(table_.link_count(), false);
    EvaluateRoutes();
    AddClasses();
    for (std::uint32_t link = 0; link < table_.link_count(); ++link)
      if (number_[link] != 0) AddLink(link);
  }

 private:
  static constexpr EndIndex Device(std::uint32_t i) { return {End::kDevice, i}; }
  static constexpr EndIndex Net(std::uint32_t i) { return {End::kNet, i}; }

  void Add(Limit limit) {
    if (limit.mb_per_s.empty()) return;
    std::sort(limit.mb_per_s.begin(), limit.mb_per_s.end());
    if (std::find(list_->begin(), list_->end(), limit) == list_->end())
      list_->push_back(std::move(limit));
  }

  void AddNics() {
    ports_.assign(nets_.port_count(), 0);
    for (std::uint32_t net = 0; net < table_.net_count(); ++net) {
      std::int64_t& port = ports_[nets_.PortOf(net)];
      port = std::max(port, table_.NetMbPerS(net));
    }
    if (multi_node_) Add({ports_, kCostUnits, {kCostUnits}, {1}});
  }

  /// The types of routes among devices: the farthest type, and whether a route crosses the network.
  /// The links of the network are unknown.
  struct TypesAmong {
    topology::PathType farthest = topology::PathType::kLoc;
    bool network = false;
  };
  TypesAmong TypesOfRoutes() const {
    TypesAmong types;
    for (std::uint32_t a = 0; a < table_.device_count(); ++a)
      for (std::uint32_t b = 0; b < table_.device_count(); ++b) {
        const topology::PathType type = table_.PathOf(Device(a), Device(b)).type;
        types.network = types.network || (a != b && type == topology::PathType::kNet);
        types.farthest = std::max(types.farthest, type);
      }
    return types;
  }

  /// A ring enters and leaves every device. In a chain, all devices but one send. In a tree that
  /// leaves the host, one device sends at least one and a half times its bandwidth.
  void AddDevices(std::int64_t& widest) {
    const TypesAmong types = TypesOfRoutes();
    if (types.network) return;
    const bool nvlink_alone = !multi_node_ && types.farthest <= topology::PathType::kNvl;
    const Graph& graph = table_.paths().graph();
    std::int64_t most_out = 0;
    Limit all;
    std::optional<NodeIndex> last;
    for (const NodeIndex end : table_.devices()) {
      const NodeIndex device = graph.at(end).kind == NodeKind::kGpu ? graph.gpu(end).device : end;
      if (device == last) continue;  // several ranks of one device
      last = device;
      Limit out;
      for (const topology::Link& link : graph.at(device).links) {
        if (graph.at(link.to).kind == NodeKind::kGpu) continue;
        // A split GPU forwards data to its other half if this half lacks the NVLink.
        const bool to_half = link.kind == LinkKind::kLocal;
        if (nvlink_alone && link.kind != LinkKind::kNvLink && !to_half) continue;
        out.mb_per_s.push_back(link.bandwidth.mb_per_s);
      }
      std::int64_t sum = 0;
      for (const std::int64_t one : out.mb_per_s) sum += one;
      all.mb_per_s.push_back(sum);
      most_out = std::max(most_out, sum);
      out.load.each = kCostUnits;
      out.passages.each = 1;
      if (ring_ && (multi_node_ || table_.device_count() > 1)) Add(std::move(out));
    }
    all.passages.each = static_cast<std::int64_t>(all.mb_per_s.size()) - 1;
    all.load.each = kCostUnits * all.passages.each;
    if (!ring_ && all.load.each > 0) Add(std::move(all));
    if (!ring_ && multi_node_ && table_.device_count() > 1)
      widest = std::min(widest, most_out * 2 / 3);
  }

  /// Puts links between nodes of the same kinds into one class.
  void Classify() {
    const topology::SystemNodes& system = table_.paths().system();
    const Graph& graph = table_.paths().graph();
    std::vector<std::tuple<NodeKind, NodeKind, LinkKind>> keys;
    for (std::uint32_t i = system.first; i < system.end; ++i) {
      for (const topology::Link& link : graph.nodes()[i].links) {
        const std::tuple key(graph.nodes()[i].kind, graph.at(link.to).kind, link.kind);
        const auto at = std::find(keys.begin(), keys.end(), key);
        class_of_.push_back(static_cast<std::uint32_t>(at - keys.begin()));
        if (at == keys.end()) keys.push_back(key);
      }
    }
    classes_ = keys.size();
    cost_of_.assign(classes_, kNever);
  }

  /// Computes the cost of a route into costs_.
  /// \return false if the route does not exist
  bool Look(EndIndex from, EndIndex to) {
    costs_.assign(classes_, {});
    const Route& route = table_.Find(from, to);
    if (route.type >= topology::PathType::kDis) return false;
    for (std::uint32_t i = 0; i < route.count; ++i) {
      const RouteStep& step = table_.Steps(route)[i];
      const Charge charge = ChargeOf(step, kCostUnits);
      ClassCost& cost = costs_[class_of_[step.link]];
      cost.load += charge.forth;
      ++cost.passages;
      costs_[class_of_[step.back]].load += charge.back;
      loaded_[step.link] = true;
      // Counts even if no route uses that link forwards: GPUs may be entered over it and left
      // through another GPU's NIC.
      if (charge.back > 0) loaded_[step.back] = true;
      std::int64_t& least = cost_of_[class_of_[step.link]];
      least = std::min(least, charge.forth);
      RoutesThroughLink& passing = PassingOf(step.link);
      passing.cost = std::min(passing.cost, charge.forth);
      passing.back = step.back;
      const std::uint64_t from_bit = std::uint64_t{1} << from.number;
      const std::uint64_t to_bit = std::uint64_t{1} << to.number;
      if (from.end == End::kNet) {
        passing.in[to.number] |= from_bit;
      } else if (to.end == End::kNet) {
        passing.out[from.number] |= to_bit;
      } else {
        passing.from[from.number] |= to_bit;
        passing.to[to.number] |= from_bit;
      }
    }
    return true;
  }

  RoutesThroughLink& PassingOf(std::uint32_t link) {
    if (number_[link] == 0) {
      const std::vector<std::uint64_t> none(table_.device_count(), 0);
      passing_.push_back({none, none, none, none});
      number_[link] = static_cast<std::uint32_t>(passing_.size());
    }
    return passing_[number_[link] - 1];
  }

  void EvaluateRoutes() {
    const Least never(classes_, {kNever, kNever});
    const std::uint32_t devices = table_.device_count();
    leaving_.assign(devices, never);
    entering_.assign(devices, never);
    if (multi_node_) in_.assign(nets_.port_count(), never);
    if (multi_node_) out_.assign(nets_.port_count(), never);
    for (std::uint32_t a = 0; a < devices; ++a) {
      for (std::uint32_t b = 0; b < devices; ++b) {
        if (a == b || !Look(Device(a), Device(b))) continue;
        Lower(leaving_[a], costs_);
        Lower(entering_[b], costs_);
      }
      for (std::uint32_t net = 0; multi_node_ && net < table_.net_count(); ++net) {
        if (Look(Device(a), Net(net))) Lower(out_[nets_.PortOf(net)], costs_);
        if (Look(Net(net), Device(a))) Lower(in_[nets_.PortOf(net)], costs_);
      }
    }
  }

  /// The minimum cost of the routes among devices on one class of links. A channel enters and
  /// leaves each device once, except for one device if the channel is not a cycle.
  std::int64_t Among(const std::vector<Least>& ends, std::size_t one,
                     std::int64_t ClassCost::*cost) const {
    std::int64_t sum = 0, most = 0;
    for (const Least& least : ends) {
      const std::int64_t here = least[one].*cost;
      if (here >= kNever) return 0;
      sum += here;
      most = std::max(most, here);
    }
    return ring_ && !multi_node_ ? sum : sum - most;
  }

  /// \param least  by port
  std::vector<PortCost> ByPort(const std::vector<Least>& least, std::size_t one,
                               std::int64_t ClassCost::*cost) const {
    std::vector<PortCost> ports;
    for (std::size_t port = 0; port < least.size(); ++port)
      if (least[port][one].*cost < kNever) ports.push_back({ports_[port], least[port][one].*cost});
    std::sort(ports.begin(), ports.end(),
              [](const PortCost& a, const PortCost& b) { return a.cost < b.cost; });
    return ports;
  }

  MinLoad MinLoadOf(std::size_t one, std::int64_t ClassCost::*cost, bool with_out) const {
    MinLoad min_load;
    min_load.each = std::max(Among(leaving_, one, cost), Among(entering_, one, cost));
    min_load.in = ByPort(in_, one, cost);
    if (with_out) min_load.out = ByPort(out_, one, cost);
    for (std::vector<PortCost>* ports : {&min_load.in, &min_load.out}) {
      if (ports->empty() || ports->front().cost != ports->back().cost) continue;
      min_load.each += ports->front().cost;
      ports->clear();
    }
    return min_load;
  }

  void AddClasses() {
    for (std::size_t one = 0; one < classes_; ++one) {
      if (cost_of_[one] >= kNever) continue;
      Limit limit;
      limit.cost = cost_of_[one];
      limit.load = MinLoadOf(one, &ClassCost::load, true);
      // In a balanced tree, half of the outgoing data leaves from another device.
      limit.passages = MinLoadOf(one, &ClassCost::passages, ring_);
      if (limit.load == MinLoad{} && limit.passages == MinLoad{}) continue;
      for (std::uint32_t link = 0; link < table_.link_count(); ++link)
        if (class_of_[link] == one && loaded_[link])
          limit.mb_per_s.push_back(table_.bandwidths()[link]);
      Add(std::move(limit));
    }
  }

  std::uint64_t All() const {
    return ~std::uint64_t{0} >> (kLimitsEndsMax - table_.device_count());
  }

  /// The devices that reach all others over this link only. 0 if one of them has another route.
  std::uint64_t Behind(const std::vector<std::uint64_t>& others,
                       const std::vector<std::uint64_t>& nets) const {
    std::uint64_t behind = 0;
    for (std::uint32_t i = 0; i < table_.device_count(); ++i)
      if (others[i] != 0 || nets[i] != 0) behind |= std::uint64_t{1} << i;
    for (std::uint32_t i = 0; i < table_.device_count(); ++i)
      if ((behind >> i & 1) != 0 && (others[i] & ~behind) != (All() & ~behind)) return 0;
    return behind;
  }

  /// Adds the NICs that data can use instead of the link to enter, or to leave.
  void AddNetsBeside(Limit& limit, std::uint64_t behind,
                     const std::vector<std::uint64_t>& nets) const {
    std::uint64_t passing = ~std::uint64_t{0};
    for (std::uint32_t i = 0; i < table_.device_count(); ++i)
      if ((behind >> i & 1) != 0) passing &= nets[i];
    for (std::uint32_t net = 0; net < table_.net_count(); ++net)
      if ((passing >> net & 1) == 0) limit.mb_per_s.push_back(table_.NetMbPerS(net));
  }

  void AddLink(std::uint32_t link) {
    const RoutesThroughLink& passing = passing_[number_[link] - 1];
    Limit limit;
    limit.mb_per_s = {table_.bandwidths()[link]};
    limit.cost = passing.cost;
    const std::uint64_t left = Behind(passing.from, passing.out);
    const std::uint64_t entered = Behind(passing.to, passing.in);
    if (ring_ && left != 0 && (multi_node_ || left != All())) AddCut(limit, left, passing.out);
    if (entered != 0 && (multi_node_ || (ring_ && entered != All())))
      AddCut(limit, entered, passing.in);
    if (ring_ || left == 0 || left == All() || number_[passing.back] == 0) return;
    // A tree uses the link in one direction or the other.
    const RoutesThroughLink& back = passing_[number_[passing.back] - 1];
    if (Behind(back.to, back.in) != left) return;
    limit.mb_per_s.push_back(table_.bandwidths()[passing.back]);
    limit.cost = std::min(limit.cost, back.cost);
    AddPassage(limit);
  }

  void AddPassage(Limit limit) {
    limit.load.each = limit.cost;
    limit.passages.each = 1;
    Add(std::move(limit));
  }

  void AddCut(Limit limit, std::uint64_t behind, const std::vector<std::uint64_t>& nets) {
    if (multi_node_) AddNetsBeside(limit, behind, nets);
    if (limit.mb_per_s.size() > 1) limit.cost = kCostUnits;
    AddPassage(std::move(limit));
  }

  RouteTable& table_;
  const NicSelector& nets_;
  const bool ring_;
  const bool multi_node_;
  std::vector<Limit>* list_ = nullptr;
  std::vector<std::uint32_t> class_of_;  // by link
  std::size_t classes_ = 0;
  std::vector<std::int64_t> cost_of_;      // minimum cost of one crossing, by class
  Least costs_;                            // of the route that Look() visited last
  std::vector<Least> leaving_, entering_;  // by device
  std::vector<Least> in_, out_;            // by port
  std::vector<RoutesThroughLink> passing_;
  std::vector<std::uint32_t> number_;  // 1 + index in passing_, by link; 0: no route
  std::vector<bool> loaded_;           // true if any route uses the link
  std::vector<std::int64_t> ports_;    // MB/s
};

Limits::Limits(RouteTable& table, const NicSelector& nets, GraphId id, bool multi_node,
               Detail detail)
    : widest_(topology::kLocalLink.mb_per_s) {
  LimitFinder(table, nets, id, multi_node).Find(*this, detail);
}

bool Limits::Allow(std::uint32_t channels, std::int64_t mb_per_s) const {
  if (mb_per_s > widest_) return false;
  return std::all_of(list_.begin(), list_.end(),
                     [&](const Limit& limit) { return Allows(limit, channels, mb_per_s); });
}

/// \pre `good` is allowed or 0, `bad` is not allowed
std::int64_t Limits::MostOf(std::uint32_t channels, std::int64_t good, std::int64_t bad) const {
  while (good + 1 < bad) {
    const std::int64_t middle = good + (bad - good) / 2;
    (Allow(channels, middle) ? good : bad) = middle;
  }
  return good;
}

std::int64_t Limits::MostOf(std::uint32_t channels) const {
  std::int64_t most = widest_;  // an estimate that divides bandwidth freely and ignores ports
  for (const Limit& limit : list_)
    if (limit.load.each > 0)
      most = std::min(most, CapacityOf(limit) / (limit.load.each * std::int64_t{channels}));
  return Allow(channels, most) ? most : MostOf(channels, 0, most);
}

/// An estimate that divides bandwidth freely among channels.
std::int64_t Limits::MostAsFluid() const {
  std::int64_t most = topology::kLocalLink.mb_per_s;
  for (const Limit& limit : list_) {
    const std::int64_t capacity = CapacityOf(limit);
    if (Paid(limit.load, most, 1) <= capacity) continue;
    std::int64_t bad = most;
    most = 0;
    while (most + 1 < bad) {
      const std::int64_t middle = most + (bad - most) / 2;
      (Paid(limit.load, middle, 1) <= capacity ? most : bad) = middle;
    }
  }
  return most;
}

std::int64_t Limits::TotalBandwidthBound(std::uint32_t channels_max, std::int64_t at_most) const {
  at_most = std::min(at_most, MostAsFluid());
  std::int64_t most = 0;
  for (std::uint32_t channels = 1; channels <= channels_max && most < at_most; ++channels) {
    const std::int64_t good = most / channels, bad = std::min(at_most / channels, widest_) + 1;
    if (good + 1 >= bad || !Allow(channels, good + 1)) continue;
    most = channels * (Allow(channels, bad - 1) ? bad - 1 : MostOf(channels, good + 1, bad));
  }
  return most;
}

}  // namespace ringlet::plan
