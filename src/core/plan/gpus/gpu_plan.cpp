#include "plan/gpus/gpu_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/wire/wire.hpp"
#include "plan/channels/graph_file.hpp"
#include "plan/policy/host_search.hpp"
#include "topology/graph/bandwidth.hpp"
#include "topology/paths/known_drivers.hpp"
#include "topology/paths/locality.hpp"
#include "topology/paths/trim.hpp"
#include "topology/view/host_shape.hpp"

namespace ringlet::plan {
namespace {

using topology::HostView;
using topology::NodeIndex;
using topology::NodeKind;

Error RefusedPlan(std::string why) {
  return {Code::kInvalidArgument, std::move(why)};
}

/// Checks that every rank is on one GPU.
/// \return the number of ranks
Result<std::uint32_t> CountRanks(std::span<const HostView> hosts) {
  std::vector<std::uint32_t> ranks;
  for (const HostView& host : hosts)
    for (const topology::Gpu& gpu : host.gpus)
      if (gpu.rank) ranks.push_back(*gpu.rank);
  if (ranks.empty()) return RefusedPlan("no rank is on a GPU");
  std::ranges::sort(ranks);
  for (std::uint32_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] != i)
      return RefusedPlan(ranks[i] > i ? fmt::format("rank {} is on no GPU", i)
                                      : fmt::format("rank {} is on two GPUs", ranks[i]));
  return static_cast<std::uint32_t>(ranks.size());
}

/// Groups hosts that share an NVLink domain. Their GPUs may reach each other.
std::vector<std::vector<std::uint32_t>> Joinable(std::span<const HostView> hosts) {
  std::vector<std::vector<std::uint32_t>> groups;
  std::map<topology::NvlinkFabric, std::size_t> group_of;
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    std::optional<std::size_t> its;
    for (const topology::Gpu& gpu : hosts[host].gpus) {
      if (!gpu.rank || !gpu.fabric) continue;
      const auto known = group_of.find(*gpu.fabric);
      if (!its) its = known == group_of.end() ? groups.size() : known->second;
      group_of.emplace(*gpu.fabric, *its);
    }
    if (!its || *its == groups.size()) {
      groups.push_back({host});
    } else {
      groups[*its].push_back(host);
    }
  }
  return groups;
}

/// Hosts with local numbers instead of ranks, so that hosts of one kind are equal.
struct LocalHosts {
  std::vector<HostView> views;
  std::vector<Rank> ranks;  ///< by local number
};

LocalHosts Numbered(std::span<const HostView> hosts, const std::vector<std::uint32_t>& group) {
  LocalHosts local;
  for (const std::uint32_t host : group) {
    local.views.push_back(hosts[host]);
    for (const topology::Gpu& gpu : hosts[host].gpus)
      if (gpu.rank) local.ranks.push_back(Rank{*gpu.rank});
  }
  std::ranges::sort(local.ranks);
  for (HostView& view : local.views)
    for (topology::Gpu& gpu : view.gpus)
      if (gpu.rank)
        gpu.rank = static_cast<std::uint32_t>(
            std::ranges::lower_bound(local.ranks, Rank{*gpu.rank}) - local.ranks.begin());
  return local;
}

/// A key. Hosts with equal keys get equal plans.
std::string KindOf(const LocalHosts& hosts) {
  Writer out;
  for (const HostView& view : hosts.views) {
    topology::Encode(out, topology::ShapeOf(view));  // does not contain the ranks
    for (const topology::Gpu& gpu : view.gpus) out.U32(gpu.rank ? *gpu.rank + 1 : 0);
  }
  const View bytes = out.view();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The GPUs of `paths` in the order of their local numbers. `paths` may lack GPUs of the group.
std::vector<NodeIndex> GpusByLocal(const topology::Paths& paths) {
  std::vector<NodeIndex> gpus = paths.Of(NodeKind::kGpu);
  std::ranges::sort(gpus, {}, [&](NodeIndex gpu) { return paths.graph().at(gpu).number; });
  return gpus;
}

using PathWidths = std::vector<std::optional<topology::Bandwidth>>;

PathWidths NvLinkedPairs(const topology::Paths& paths) {
  PathWidths pairs;
  const std::vector<NodeIndex>& gpus = paths.Of(NodeKind::kGpu);
  for (const NodeIndex a : gpus)
    for (const NodeIndex b : gpus) {
      if (a == b) continue;
      const topology::Path path = paths.From(a, b);
      const bool nvlink = path.type <= topology::PathType::kNvb;
      pairs.push_back(nvlink ? std::optional(path.bandwidth) : std::nullopt);
    }
  return pairs;
}

P2pNodeClass P2pNodeClassOf(const topology::Paths& paths, NodeIndex gpu, const PathWidths& pairs) {
  const topology::Graph& graph = paths.graph();
  P2pNodeClass ground;
  ground.paths = pairs;
  ground.nvlink = topology::NvLink(graph.device(graph.gpu(gpu).device).compute_capability);
  const topology::NearNets near = topology::NearNetsOf(paths, gpu, {});
  const std::optional<NodeIndex> cpu = topology::NearestCpu(paths, gpu);
  const topology::Bandwidth needed = cpu ? paths.From(gpu, *cpu).bandwidth : topology::Bandwidth{};
  while (ground.nics < near.nets.size() && (ground.nics == 0 || ground.nics_width < needed)) {
    ground.nics_width.mb_per_s += paths.From(gpu, near.For(ground.nics)).bandwidth.mb_per_s;
    ++ground.nics;
  }
  return ground;
}

class GpuPlanner {
 public:
  GpuPlanner(std::span<const HostView> hosts, const GpuPlanOptions& options)
      : hosts_(hosts), options_(options) {}

  Result<GpuPlan> Run() {
    RINGLET_TRY(CountRanks(hosts_));
    for (const auto& group : Joinable(hosts_)) RINGLET_TRY(AddNodes(group));
    std::ranges::sort(nodes_, {}, [](const GpuNode& node) { return Index(node.ranks.front()); });
    for (GpuSystem& system : systems_) RINGLET_TRY(Search(system));
    RINGLET_TRY_ASSIGN(JoinedPlan joined, JoinNodes());
    std::vector<const topology::Paths*> kinds;
    for (const GpuSystem& system : systems_) kinds.push_back(&system.paths);
    Tuning tuning(TuningInputFor(kinds, joined, options_.choice), joined.plan.counts());
    const P2pChannels messages = P2pChannelsFor(kinds, joined.plan);
    return GpuPlan{std::move(systems_), std::move(nodes_), std::move(joined), std::move(tuning),
                   messages};
  }

 private:
  Status AddNodes(const std::vector<std::uint32_t>& group) {
    const LocalHosts hosts = Numbered(hosts_, group);
    if (hosts.ranks.empty()) return Ok();
    const auto [known, fresh] = kinds_.try_emplace(KindOf(hosts));
    if (fresh) {
      RINGLET_TRY_ASSIGN(known->second, SystemsOf(hosts.views));
    }
    for (const std::uint32_t system : known->second) {
      GpuNode node{.system = system, .ranks = {}, .hosts = group};
      const GpuSystem& its = systems_[system];
      for (const NodeIndex gpu : its.gpus)
        node.ranks.push_back(hosts.ranks[its.graph->at(gpu).number]);
      nodes_.push_back(std::move(node));
    }
    return Ok();
  }

  // Creates one node per group of GPUs that reach each other without the network.
  Result<std::vector<std::uint32_t>> SystemsOf(std::span<const HostView> views) {
    RINGLET_TRY_ASSIGN(const topology::Graph whole,
                       topology::Build(views, {}, {.gpus = topology::GpuRanks::kGiven}));
    topology::PathOptions by = options_.paths;
    if (!by.peer_access) by.peer_access = topology::KnownPeerAccess(views, whole);
    std::vector<std::uint32_t> added;
    for (std::uint32_t i = 0; i < whole.systems().size(); ++i) {
      RINGLET_TRY_ASSIGN(const topology::Paths paths, topology::FindPaths(whole, i, by));
      const std::vector<std::uint32_t> domains = topology::DomainsOf(paths);
      for (std::uint32_t gpu = 0; gpu < domains.size(); ++gpu) {
        if (domains[gpu] != gpu) continue;
        const Rank first{whole.at(paths.Of(NodeKind::kGpu)[gpu]).number};
        RINGLET_TRY_ASSIGN(topology::Graph trimmed, topology::TrimToDomain(paths, first));
        added.push_back(static_cast<std::uint32_t>(systems_.size()));
        RINGLET_TRY(AddSystem(std::move(trimmed), i, by));
      }
    }
    return added;
  }

  Status AddSystem(topology::Graph graph, std::uint32_t index, const topology::PathOptions& by) {
    GpuSystem system{.graph = std::make_unique<const topology::Graph>(std::move(graph)),
                     .paths = {},
                     .planned = {},
                     .gpus = {}};
    RINGLET_TRY_ASSIGN(system.paths, topology::FindPaths(*system.graph, index, by));
    system.gpus = GpusByLocal(system.paths);
    system.planned.locals = LocalsOf(system.paths);
    system.planned.compute_capability = LeastCapability(system.paths);
    systems_.push_back(std::move(system));
    return Ok();
  }

  Status Search(GpuSystem& system) const {
    if (options_.given.file.empty()) {
      SearchOptions search = options_.search;
      search.multi_node = nodes_.size() > 1;
      RINGLET_TRY_ASSIGN(system.planned.plan, SearchHost(system.paths, search));
      return Ok();
    }
    if (systems_.size() > 1)
      return RefusedPlan(fmt::format("{} describes one kind of node, but the plan has {} kinds",
                                     options_.given.file, systems_.size()));
    RINGLET_TRY_ASSIGN(system.planned.plan,
                       ReadGraphs(options_.given.text, options_.given.file, NamesOf(system.paths)));
    return Ok();
  }

  // Join() requires consecutive ranks. Afterwards each node gets its real ranks.
  Result<JoinedPlan> JoinNodes() const {
    std::vector<NodeClass> classes;
    for (const GpuSystem& system : systems_) classes.push_back(system.planned);
    std::vector<NodeBlock> blocks;
    std::uint32_t ranks = 0;
    for (const GpuNode& node : nodes_) {
      blocks.push_back({node.system, 1, Rank{ranks}});
      ranks += static_cast<std::uint32_t>(node.ranks.size());
    }
    ChannelLimits limits = options_.channels;
    limits.one_number = options_.search.policy == Policy::kCompat || !options_.given.file.empty();
    RINGLET_TRY_ASSIGN(JoinedPlan joined, Join(classes, blocks, limits));
    const ChannelPlan& drawn = joined.plan;
    ChannelPlan plan(drawn.options(), {drawn.shapes().begin(), drawn.shapes().end()});
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      plan.AddNode(static_cast<std::uint32_t>(&drawn.ShapeOf(node) - drawn.shapes().data()),
                   nodes_[node].ranks);
    plan.Finish();
    joined.plan = std::move(plan);
    return joined;
  }

  std::span<const HostView> hosts_;
  const GpuPlanOptions& options_;
  std::map<std::string, std::vector<std::uint32_t>> kinds_;  // the systems of each kind
  std::vector<GpuSystem> systems_;
  std::vector<GpuNode> nodes_;
};

}  // namespace

Result<GpuPlan> PlanGpus(std::span<const topology::HostView> hosts, const GpuPlanOptions& options) {
  std::vector<HostView> planned;
  for (const HostView& host : hosts) {
    RINGLET_TRY_ASSIGN(topology::PlannedPorts ports, topology::ApplyPortRules(host, options.ports));
    planned.push_back(std::move(ports.view));
  }
  return GpuPlanner(planned, options).Run();
}

std::uint32_t GpuSystem::DeviceOf(std::uint32_t local) const {
  const auto& locals = planned.locals;
  return static_cast<std::uint32_t>(std::ranges::find(locals, local) - locals.begin());
}

std::vector<std::uint32_t> LocalsOf(const topology::Paths& paths) {
  std::vector<std::uint32_t> ranks, locals;
  for (const NodeIndex gpu : paths.Of(NodeKind::kGpu))
    ranks.push_back(paths.graph().at(gpu).number);
  for (const std::uint32_t rank : ranks)
    locals.push_back(static_cast<std::uint32_t>(
        std::ranges::count_if(ranks, [&](std::uint32_t other) { return other < rank; })));
  return locals;
}

std::uint32_t LeastCapability(const topology::Paths& paths) {
  const topology::Graph& graph = paths.graph();
  std::uint32_t least = ~0u;
  for (const NodeIndex gpu : paths.Of(NodeKind::kGpu))
    least = std::min(least, graph.device(graph.gpu(gpu).device).compute_capability);
  return least;
}

TuningInput TuningInputFor(std::span<const topology::Paths* const> kinds, const JoinedPlan& joined,
                           TuningChoice choice) {
  TuningInput input;
  input.choice = std::move(choice);
  input.ranks = joined.plan.rank_count();
  input.nodes = joined.plan.node_count();
  input.graphs = joined.common;
  input.capability_min = ~0u;
  bool all_amd = true;
  for (const topology::Paths* const paths : kinds) {
    const topology::Graph& graph = paths->graph();
    const std::vector<NodeIndex>& gpus = paths->Of(NodeKind::kGpu);
    for (const NodeIndex gpu : gpus) {
      const auto capability = graph.device(graph.gpu(gpu).device).compute_capability;
      input.capability_min = std::min(input.capability_min, capability);
      input.capability_max = std::max(input.capability_max, capability);
    }
    for (const NodeIndex cpu : paths->Of(NodeKind::kCpu)) {
      const topology::CpuModel& model = graph.cpu(cpu);
      const bool its = model.vendor == "AuthenticAMD";
      all_amd = all_amd && its;
      input.amd_or_mixed = input.amd_or_mixed || its;
      input.power = input.power || model.arch == "ppc64";
    }
    input.nvswitch = input.nvswitch || !paths->Of(NodeKind::kNvs).empty();
    input.node_ranks_max = std::max(input.node_ranks_max, static_cast<std::uint32_t>(gpus.size()));
  }
  input.amd = all_amd && input.amd_or_mixed;
  input.nvls_heads = joined.nvls ? joined.nvls->count : 0;
  return input;
}

P2pChannels P2pChannelsFor(std::span<const topology::Paths* const> kinds, const ChannelPlan& plan) {
  std::vector<PathWidths> pairs;
  for (const topology::Paths* const paths : kinds) pairs.push_back(NvLinkedPairs(*paths));
  std::vector<P2pNodeClass> grounds;
  std::uint32_t peers_max = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::vector<NodeIndex>& gpus = kinds[i]->Of(NodeKind::kGpu);
    peers_max = std::max(peers_max, static_cast<std::uint32_t>(gpus.size()));
    for (const NodeIndex gpu : gpus) grounds.push_back(P2pNodeClassOf(*kinds[i], gpu, pairs[i]));
  }
  return CountP2pChannels(grounds, plan.node_count(), peers_max, plan.channel_count(), {});
}

}  // namespace ringlet::plan
