// Checks properties of plans over random machines, with code independent of the search. It counts
// links from the paths themselves, and searches small machines exhaustively.
//
// Every failure names the machine in words and the seed. RINGLET_PLAN_MACHINES sets the number of
// machines.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "plan/policy/host_search.hpp"
#include "topo/edit/synthetic.hpp"
#include "topology/paths/paths.hpp"
#include "topology/paths/trim.hpp"

namespace ringlet::plan {
namespace {

using topology::Graph;
using topology::Hop;
using topology::NodeIndex;
using topology::NodeKind;
using topology::Paths;
using topology::PathType;

constexpr std::uint64_t kSeed = 20'251'121;
constexpr std::int64_t kUnits = 40;  // per channel bandwidth, to count 6/5 and 1/8

std::size_t MachineCount() {
  const char* text = std::getenv("RINGLET_PLAN_MACHINES");
  return text == nullptr ? 100 : std::stoul(text);
}

struct RoutedMachine {
  topology::HostView view;
  Graph graph;
  Paths paths;
};

std::unique_ptr<RoutedMachine> Make(const topology::HostView& view) {
  auto machine = std::make_unique<RoutedMachine>();
  machine->view = view;
  machine->graph = topology::Build({&view, 1}, {}, {.gpus = topology::GpuRanks::kGiven}).value();
  machine->paths = topology::FindPaths(machine->graph, 0, {}).value();
  return machine;
}

constexpr int kDrawsMax = 50;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t Below(std::uint32_t n) { return static_cast<std::uint32_t>(engine_() % n); }

 private:
  std::mt19937_64 engine_;
};

/// Describes one or two NUMA nodes with switches, some GPUs and NICs; now and then NVLink.
std::string RandomWords(Random& random, std::uint32_t gpus_max) {
  static constexpr const char* kModels[] = {
      "", "", "", " a100-sxm4 switch", " h100-sxm5 switch", " v100-sxm2 mesh"};
  static constexpr const char* kSpeeds[] = {"25g", "100g", "200g", "400g"};
  const std::string model = kModels[random.Below(std::size(kModels))];
  std::uint32_t gpus = 2 + random.Below(gpus_max - 1);
  std::vector<std::string> nodes;
  const std::uint32_t numas = 1 + random.Below(2);
  for (std::uint32_t numa = 0; numa < numas; ++numa) {
    std::vector<std::string> places;
    const std::uint32_t switches = 1 + random.Below(3);
    for (std::uint32_t i = 0; i < switches; ++i) {
      const bool last = numa + 1 == numas && i + 1 == switches;
      const std::uint32_t local_host = last ? gpus : std::min(gpus, random.Below(4));
      gpus -= local_host;
      std::vector<std::string> items;
      if (local_host > 0) items.push_back(fmt::format("{} gpu{}", local_host, model));
      if (random.Below(2) == 0)
        items.push_back(fmt::format("1 nic {}", kSpeeds[random.Below(std::size(kSpeeds))]));
      if (!items.empty()) places.push_back(fmt::format("(switch: {})", fmt::join(items, ", ")));
    }
    if (random.Below(3) == 0) places.push_back("1 nic 100g");
    if (!places.empty()) nodes.push_back(fmt::format("(numa: {})", fmt::join(places, ", ")));
  }
  return fmt::format("{}", fmt::join(nodes, ", "));
}

/// The first drawn machine that is valid: some models lack links for some layouts.
topology::HostView Draw(Random& random, std::uint32_t gpus_max, std::string& words) {
  for (int i = 0; i < kDrawsMax; ++i) {
    words = RandomWords(random, gpus_max);
    const Result<topology::HostView> view = topology::ParseSynthetic(words);
    if (!view.ok()) continue;
    if (topology::Build({&*view, 1}, {}, {.gpus = topology::GpuRanks::kGiven}).ok()) return *view;
  }
  ADD_FAILURE() << "no machine can be built, the last one was " << words;
  return topology::ParseSynthetic("2 gpu").value();
}

/// Bandwidth of channels, in kUnits of one channel's, by ends of a link and its kind.
using Loads = std::map<std::tuple<NodeIndex, NodeIndex, topology::LinkKind>, std::int64_t>;

bool OnIntel(const Graph& graph, const std::vector<Hop>& hops) {
  return std::any_of(hops.begin(), hops.end(), [&](const Hop& hop) {
    return graph.at(hop.to).kind == NodeKind::kCpu && graph.cpu(hop.to).vendor == "GenuineIntel";
  });
}

/// \param part  of the channel's bandwidth, in kUnits
void Load(const RoutedMachine& machine, NodeIndex from, NodeIndex to, std::int64_t part,
          Loads& loads) {
  const Graph& graph = machine.graph;
  const std::vector<Hop> hops = machine.paths.Route(from, to);
  const bool gpu = graph.at(from).kind == NodeKind::kGpu;
  const bool split =
      gpu && machine.paths.From(from, to).type == PathType::kPhb && OnIntel(graph, hops);
  for (const Hop& hop : hops) {
    const std::int64_t forth = split && hop.kind == topology::LinkKind::kPci ? part * 6 / 5 : part;
    loads[{hop.from, hop.to, hop.kind}] += forth;
    const bool acknowledged = !gpu && graph.at(hop.to).kind == NodeKind::kDev &&
                              graph.device(hop.to).compute_capability < 80;
    if (acknowledged) loads[{hop.to, hop.from, hop.kind}] += forth / 8;
  }
}

Loads LoadsOf(const RoutedMachine& machine, const PatternGraph& graph) {
  const std::vector<NodeIndex>& gpus = machine.paths.Of(NodeKind::kGpu);
  const std::vector<NodeIndex>& nets = machine.paths.Of(NodeKind::kNet);
  Loads loads;
  for (const LocalChannel& channel : graph.channels) {
    const std::vector<std::uint32_t>& order = channel.devices;
    for (std::size_t i = 0; i + 1 < order.size(); ++i)
      Load(machine, gpus[order[i]], gpus[order[i + 1]], kUnits, loads);
    const bool ring = graph.pattern == Pattern::kRing;
    if (ring && !channel.entry && order.size() > 1)
      Load(machine, gpus[order.back()], gpus[order.front()], kUnits, loads);
    if (channel.entry) Load(machine, nets[*channel.entry], gpus[order.front()], kUnits, loads);
    if (!channel.exit) continue;
    const bool halves = graph.pattern == Pattern::kBalancedTree && order.size() > 1;
    Load(machine, gpus[ring ? order.back() : order.front()], nets[*channel.exit],
         halves ? kUnits / 2 : kUnits, loads);
    if (halves) Load(machine, gpus[order[1]], nets[*channel.exit], kUnits / 2, loads);
  }
  return loads;
}

std::int64_t Capacity(const Graph& graph, const Loads::key_type& key) {
  for (const topology::Link& link : graph.at(std::get<0>(key)).links)
    if (link.to == std::get<1>(key) && link.kind == std::get<2>(key))
      return link.bandwidth.mb_per_s;
  return 0;
}

/// Returns the maximum bandwidth per channel under these loads.
std::int64_t EachOf(const Graph& graph, const Loads& loads) {
  std::int64_t each = 5'000'000;
  for (const auto& [key, load] : loads)
    if (load > 0) each = std::min(each, Capacity(graph, key) * kUnits / load);
  return each;
}

void ExpectSound(const RoutedMachine& machine, const HostPlan& plan) {
  for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
    const PatternGraph& graph = plan.of(id);
    ASSERT_FALSE(graph.channels.empty());
    for (const LocalChannel& channel : graph.channels) {
      std::vector<std::uint32_t> sorted = channel.devices;
      std::sort(sorted.begin(), sorted.end());
      std::vector<std::uint32_t> all(plan.devices);
      std::iota(all.begin(), all.end(), 0u);
      EXPECT_EQ(sorted, all) << ToText(graph);
    }
    if (graph.stopped == StopReason::kFallback) continue;
    EXPECT_LE(graph.total(), graph.bound) << ToText(graph);
    const std::int64_t each = static_cast<std::int64_t>(graph.total().mb_per_s) /
                              static_cast<std::int64_t>(graph.channels.size());
    EXPECT_GE(EachOf(machine.graph, LoadsOf(machine, graph)), each) << ToText(graph);
  }
}

HostPlan PlanOf(const RoutedMachine& machine, bool multi_node, Policy policy = Policy::kBest) {
  return SearchHost(machine.paths, {.policy = policy, .multi_node = multi_node, .bounds = true})
      .value();
}

/// Returns the same machine with other GPU numbers.
topology::HostView Relabelled(topology::HostView view, Random& random) {
  std::vector<std::uint32_t> ranks(view.gpus.size());
  std::iota(ranks.begin(), ranks.end(), 0u);
  for (std::size_t i = ranks.size(); i > 1; --i)
    std::swap(ranks[i - 1], ranks[random.Below(static_cast<std::uint32_t>(i))]);
  for (std::size_t i = 0; i < ranks.size(); ++i) view.gpus[i].rank = ranks[i];
  return view;
}

/// Returns the bus addresses of a channel's devices, independent of their ranks.
std::vector<std::uint64_t> Places(const RoutedMachine& machine, const LocalChannel& channel) {
  std::vector<std::uint64_t> places;
  for (const std::uint32_t device : channel.devices)
    places.push_back(machine.graph.at(machine.paths.Of(NodeKind::kGpu)[device]).id);
  return places;
}

TEST(PlanPropertyTest, PlansAreSoundAndFollowRelabelling) {
  for (std::size_t i = 0; i < MachineCount(); ++i) {
    Random random(kSeed + i);
    std::string words;
    const topology::HostView view = Draw(random, 8, words);
    SCOPED_TRACE(fmt::format("seed {}: {}", kSeed + i, words));
    const auto machine = Make(view);
    const auto relabelled = Make(Relabelled(view, random));
    for (const bool multi_node : {false, true}) {
      if (multi_node && machine->paths.Of(NodeKind::kNet).empty()) continue;
      const HostPlan plan = PlanOf(*machine, multi_node);
      const HostPlan compat = PlanOf(*machine, multi_node, Policy::kCompat);
      ExpectSound(*machine, plan);
      ExpectSound(*machine, compat);
      const HostPlan other = PlanOf(*relabelled, multi_node);
      for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
        EXPECT_GE(plan.of(id).total(), compat.of(id).total());
        ASSERT_EQ(plan.of(id).channels.size(), other.of(id).channels.size());
        EXPECT_EQ(plan.of(id).total(), other.of(id).total());
        for (std::size_t c = 0; c < plan.of(id).channels.size(); ++c)
          EXPECT_EQ(Places(*machine, plan.of(id).channels[c]),
                    Places(*relabelled, other.of(id).channels[c]));
      }
    }
  }
}

TEST(PlanPropertyTest, AReducedPlanIsSoundAndNearlyAsFast) {
  for (std::size_t i = 0; i < MachineCount(); ++i) {
    Random random(kSeed + i);
    std::string words;
    const auto machine = Make(Draw(random, 8, words));
    SCOPED_TRACE(fmt::format("seed {}: {}", kSeed + i, words));
    for (const bool multi_node : {false, true}) {
      if (multi_node && machine->paths.Of(NodeKind::kNet).empty()) continue;
      const HostPlan most = PlanOf(*machine, multi_node);
      const HostPlan compat = PlanOf(*machine, multi_node, Policy::kCompat);
      const HostPlan knee =
          SearchHost(machine->paths, {.multi_node = multi_node, .knee = true, .bounds = true})
              .value();
      ExpectSound(*machine, knee);
      for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
        EXPECT_LE(knee.of(id).channels.size(), most.of(id).channels.size());
        EXPECT_GE(knee.of(id).total(), compat.of(id).total());
        EXPECT_GE(10 * (knee.of(id).total().mb_per_s + 1), 9 * most.of(id).total().mb_per_s);
      }
    }
  }
}

/// Tries all rings for this number of channels, and keeps the maximum total.
class AllRings {
 public:
  explicit AllRings(const RoutedMachine& machine) : machine_(machine) {
    std::vector<std::uint32_t> order(machine.paths.Of(NodeKind::kGpu).size());
    std::iota(order.begin(), order.end(), 0u);
    do {
      PatternGraph graph;
      graph.pattern = Pattern::kRing;
      graph.channels.push_back({order});
      rings_.push_back(LoadsOf(machine, graph));
    } while (std::next_permutation(order.begin() + 1, order.end()));
  }

  std::int64_t Most(std::uint32_t channels) const {
    std::int64_t most = 0;
    Try(0, channels, channels, {}, most);
    return most;
  }
  std::size_t count() const { return rings_.size(); }

 private:
  void Try(std::size_t from, std::uint32_t more, std::uint32_t channels, const Loads& loads,
           std::int64_t& most) const {
    if (more == 0) {
      most = std::max(most, EachOf(machine_.graph, loads) * channels);
      return;
    }
    for (std::size_t i = from; i < rings_.size(); ++i) {
      Loads sum = loads;
      for (const auto& [key, load] : rings_[i]) sum[key] += load;
      Try(i, more - 1, channels, sum, most);
    }
  }

  const RoutedMachine& machine_;
  std::vector<Loads> rings_;
};

TEST(PlanPropertyTest, SmallMachinesMatchBruteForce) {
  std::size_t optimal = 0, bounded = 0, machines = 0;
  for (std::size_t i = 0; i < MachineCount() / 10; ++i) {
    Random random(kSeed + i);
    std::string words;
    const auto machine = Make(Draw(random, 6, words));
    SCOPED_TRACE(fmt::format("seed {}: {}", kSeed + i, words));
    const PatternGraph ring = PlanOf(*machine, false).of(GraphId::kRing);
    const AllRings all(*machine);
    std::int64_t most = 0;
    for (std::uint32_t channels = 1; channels <= (all.count() > 24 ? 1u : 2u); ++channels)
      most = std::max(most, all.Most(channels));
    EXPECT_LE(most, ring.bound.mb_per_s) << "the bound is wrong: " << ToText(ring);
    ++machines;
    if (ring.total().mb_per_s + ring.channels.size() >= static_cast<std::uint64_t>(most)) ++optimal;
    if (ring.total() >= ring.bound) ++bounded;
  }
  fmt::print("of {} machines {} are as good as brute force, {} reach their bound\n", machines,
             optimal, bounded);
  EXPECT_GE(optimal * 100, machines * 95);
}

/// NICs have one speed and equal distances to GPUs, and their links have room for all.
TEST(PlanPropertyTest, EveryNicIsUsedIfEachSwitchHasOne) {
  for (std::size_t i = 0; i < MachineCount(); ++i) {
    Random random(kSeed + i);
    const std::uint32_t numas = 1 + random.Below(2), switches = 1 + random.Below(3);
    const std::uint32_t gpus = 1 + random.Below(2);
    const char* const model = random.Below(2) == 0 ? "a100-sxm4 switch" : "h100-sxm5 switch";
    const std::string words =
        fmt::format("{}x(numa: {}x(switch: {} gpu {}, 1 nic 100g))", numas, switches, gpus, model);
    SCOPED_TRACE(fmt::format("seed {}: {}", kSeed + i, words));
    const Result<topology::HostView> view = topology::ParseSynthetic(words);
    ASSERT_TRUE(view.ok()) << view.error().message;
    const auto machine = Make(*view);
    if (machine->paths.Of(NodeKind::kGpu).size() < 2) continue;
    const HostPlan plan = PlanOf(*machine, true);
    for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
      std::vector<bool> enters(plan.nics, false), leaves(plan.nics, false);
      for (const LocalChannel& channel : plan.of(id).channels) {
        ASSERT_TRUE(channel.entry && channel.exit);
        enters[*channel.entry] = leaves[*channel.exit] = true;
      }
      EXPECT_EQ(std::count(enters.begin(), enters.end(), false), 0) << ToText(plan.of(id));
      EXPECT_EQ(std::count(leaves.begin(), leaves.end(), false), 0) << ToText(plan.of(id));
    }
  }
}

/// Doubles the speed of one NIC.
topology::HostView Widened(topology::HostView view, Random& random) {
  if (view.nets.empty()) return view;
  topology::NetInterface& net =
      view.nets[random.Below(static_cast<std::uint32_t>(view.nets.size()))];
  if (net.speed_mbit_per_s) *net.speed_mbit_per_s *= 2;
  return view;
}

/// Adds an NVLink between two linked GPUs. Returns the same machine if there are none.
topology::HostView WithOneMoreLink(topology::HostView view, Random& random) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  const auto to = [&](const topology::Gpu& gpu, std::size_t other) {
    return std::find_if(gpu.links.begin(), gpu.links.end(), [&](const topology::GpuLink& link) {
      return link.target == view.pci[view.gpus[other].pci].bus;
    });
  };
  for (std::size_t a = 0; a < view.gpus.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (to(view.gpus[a], b) != view.gpus[a].links.end()) pairs.emplace_back(a, b);
  if (pairs.empty()) return view;
  const auto [a, b] = pairs[random.Below(static_cast<std::uint32_t>(pairs.size()))];
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    const auto at = to(view.gpus[one], other) - view.gpus[one].links.begin();
    if (static_cast<std::size_t>(at) < view.gpus[one].links.size())
      ++view.gpus[one].links[static_cast<std::size_t>(at)].count;
  }
  return view;
}

/// Adds a NIC beside another one, in words. Returns the same words if there is none.
std::string WithOneMore(std::string words, Random& random) {
  std::vector<std::size_t> places;
  for (std::size_t at = words.find("1 nic"); at != std::string::npos;
       at = words.find("1 nic", at + 1))
    places.push_back(at);
  if (!places.empty()) words[places[random.Below(static_cast<std::uint32_t>(places.size()))]] = '2';
  return words;
}

/// True if all GPUs reach each other without the network, so the host is one node.
bool Whole(const RoutedMachine& machine) {
  const std::vector<std::uint32_t> domains = topology::DomainsOf(machine.paths);
  return std::all_of(domains.begin(), domains.end(),
                     [&](std::uint32_t domain) { return domain == domains.front(); });
}

/// Trees use the rings' number of channels, and a search finds them. Some have less bandwidth, and
/// few are lower by more than this fraction.
constexpr std::uint64_t kTreePart = 32;
constexpr std::size_t kFewOf = 500;  // machines

/// Rings and trees before and after an addition.
class Additions {
 public:
  void Compare(const topology::HostView& view, const topology::HostView& more) {
    const auto machine = Make(view), richer = Make(more);
    if (machine->paths.Of(NodeKind::kNet).empty()) return;
    // Hosts of several nodes are not compared.
    if (!Whole(*machine) || !Whole(*richer)) return;
    const HostPlan before = PlanOf(*machine, true), after = PlanOf(*richer, true);
    ++machines_;
    const PatternGraph& ring = before.of(GraphId::kRing);
    const PatternGraph& tree = before.of(GraphId::kTree);
    if (Lacking(tree, after.of(GraphId::kTree)) > 0) ++trees_;
    if (Lacking(tree, after.of(GraphId::kTree)) > tree.total().mb_per_s / kTreePart) ++poor_trees_;
    if (Lacking(ring, after.of(GraphId::kRing)) == 0) return;
    ++rings_;
    ADD_FAILURE() << "less than before:\n" << ToText(ring) << ToText(after.of(GraphId::kRing));
  }

  void Tell(std::string_view what) const {
    fmt::print("of {} machines {} have less {}; in trees {}, {} of them by a {}nd\n", machines_,
               rings_, what, trees_, poor_trees_, kTreePart);
    EXPECT_LE(poor_trees_, 1 + machines_ / kFewOf);
  }

 private:
  /// Returns the missing MB/s, except for rounding.
  static std::uint64_t Lacking(const PatternGraph& before, const PatternGraph& after) {
    const std::uint64_t had = before.total().mb_per_s;
    const std::uint64_t has = after.total().mb_per_s + after.channels.size();
    return has < had ? had - has : 0;
  }

  std::size_t machines_ = 0, rings_ = 0, trees_ = 0, poor_trees_ = 0;
};

/// Machines with a loss under some way of searching: equal channels are hard to find there, or
/// trees had less. These numbers count from kSeed, and run for any MachineCount.
constexpr std::uint64_t kHard[] = {15,    33,    56,    152,   304,   415,   511,   516,
                                   678,   765,   1'262, 2'001, 2'343, 2'657, 2'717, 2'882,
                                   3'077, 3'290, 3'801, 3'952, 4'069, 4'373, 4'466, 4'569};

/// Compares drawn machines with their changed versions. No addition lowers bandwidth, except for
/// losses by division among other numbers of channels.
/// \param change  receives a machine, its words and the random source; empty result: skip
template <typename Change>
void ExpectNeverLower(std::string_view what, const Change& change) {
  Additions additions;
  std::vector<std::uint64_t> numbers(MachineCount() / 2);
  std::iota(numbers.begin(), numbers.end(), 0u);
  for (const std::uint64_t hard : kHard)
    if (hard >= numbers.size()) numbers.push_back(hard);
  for (const std::uint64_t number : numbers) {
    Random random(kSeed + number);
    std::string words;
    const topology::HostView view = Draw(random, 8, words);
    SCOPED_TRACE(fmt::format("seed {}: {}", kSeed + number, words));
    const std::optional<topology::HostView> changed = change(view, words, random);
    if (changed) additions.Compare(view, *changed);
  }
  additions.Tell(what);
}

using Changed = std::optional<topology::HostView>;

TEST(PlanPropertyTest, AFasterNicNeverLowersThePlan) {
  ExpectNeverLower("with a faster NIC",
                   [](const topology::HostView& view, const std::string&, Random& random) {
                     return Changed(Widened(view, random));
                   });
}

TEST(PlanPropertyTest, AnotherNvLinkNeverLowersThePlan) {
  ExpectNeverLower("with one more NVLink", [](const topology::HostView& view,
                                              const std::string& words, Random& random) {
    return words.find("mesh") == std::string::npos ? Changed()
                                                   : Changed(WithOneMoreLink(view, random));
  });
}

TEST(PlanPropertyTest, AnotherNicNeverLowersThePlan) {
  ExpectNeverLower(
      "with one more NIC", [](const topology::HostView&, const std::string& words, Random& random) {
        Result<topology::HostView> more = topology::ParseSynthetic(WithOneMore(words, random));
        EXPECT_TRUE(more.ok()) << more.error().message;
        return more.ok() ? Changed(std::move(more).value()) : Changed();
      });
}

}  // namespace
}  // namespace ringlet::plan
