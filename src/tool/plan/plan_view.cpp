#include "tool/plan/plan_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

#include "base/settings/settings.hpp"
#include "base/value/text.hpp"
#include "os/clock.hpp"
#include "os/fs/conf_files.hpp"
#include "plan/channels/graph_file.hpp"
#include "plan/gpus/gpu_plan.hpp"
#include "plan/policy/host_search.hpp"
#include "plan/search/channel_search.hpp"
#include "plan/tuning/user_limits.hpp"
#include "tool/text/value_types.hpp"
#include "topology/paths/trim.hpp"

namespace ringlet::cli {
namespace {

using topology::NodeIndex;
using topology::NodeKind;

std::string FromEnvironment(const EnvMap& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

class Viewer {
 public:
  Viewer(const PlanRequest& request, const EnvMap& environment)
      : request_(request), environment_(environment) {}

  Result<PlanView> Run() {
    RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(environment_));
    RINGLET_TRY_ASSIGN(plan::ChannelLimits limits, plan::ReadLimits(settings));
    RINGLET_TRY_ASSIGN(search_, plan::ReadSearchOptions(settings));
    RINGLET_TRY(LimitChannels(limits));
    search_.cross_nic = request_.cross_nic.value_or(search_.cross_nic);
    search_.policy = request_.policy.value_or(search_.policy);
    search_.bounds = true;
    view_.policy = search_.policy;
    view_.hosts = 0;
    RINGLET_TRY(Add(request_.machine, request_.hosts));
    for (const std::string& words : request_.others) {
      RINGLET_TRY_ASSIGN(const Other other, ReadOther(words));
      PathRequest machine = request_.machine;
      machine.source = {.file = other.file, .root = {}, .synthetic = {}};
      machine.edit = {};  // edits the first kind of hosts only
      RINGLET_TRY(Add(machine, other.hosts));
    }
    for (const HostKind& kind : view_.kinds)
      view_.title += (view_.title.empty() ? "" : " and ") + kind.title;
    search_.multi_node = view_.hosts > 1 || view_.nodes.size() > 1;
    view_.search = search_;
    for (NodeView& node : view_.nodes) RINGLET_TRY(Plan(node));
    plan::AlignRails(view_.classes);
    RINGLET_TRY(Dump());
    limits.one_number = search_.policy == plan::Policy::kCompat;
    const Instant start = os::Now();
    Result<plan::JoinedPlan> joined = plan::Join(view_.classes, Blocks(), limits);
    if (!joined.ok()) return WithNodes(joined.error());
    view_.joined = *std::move(joined);
    view_.join_time = os::Now() - start;
    return std::move(view_);
  }

 private:
  struct Other {
    std::string file;
    std::uint32_t hosts = 1;
  };

  /// Applies --channels, which counts channels of a host. Join makes two of each.
  Status LimitChannels(plan::ChannelLimits& limits) {
    if (request_.channels == 0) return Ok();
    limits.max = std::min<std::uint32_t>(limits.max, 2 * request_.channels);
    if (limits.min > limits.max)
      return Error{
          Code::kInvalidArgument,
          fmt::format(
              "--channels {} gives {} channels over all hosts, but NCCL_MIN_NCHANNELS requires {}",
              request_.channels, limits.max, limits.min)};
    search_.channels_max = request_.channels;
    search_.knee = false;
    return Ok();
  }

  /// Parses "FILE" or "FILE*3".
  static Result<Other> ReadOther(const std::string& words) {
    const std::size_t star = words.rfind('*');
    if (star == std::string::npos) return Other{words, 1};
    std::uint32_t hosts = 0;
    const char* const end = words.data() + words.size();
    const auto [rest, error] = std::from_chars(words.data() + star + 1, end, hosts);
    if (error != std::errc() || rest != end || hosts == 0 || hosts > kPlannedHostsMax)
      return Error{Code::kInvalidArgument,
                   fmt::format("--and {}: the number of hosts must follow *, 1 to {}", words,
                               kPlannedHostsMax)};
    return Other{words.substr(0, star), hosts};
  }

  Status Add(const PathRequest& machine, std::uint32_t hosts) {
    RINGLET_TRY_ASSIGN(PathView whole, FindPathView(machine, environment_));
    HostKind kind{whole.title, hosts, view_.nodes.size(), 0, std::move(whole.machine)};
    for (const std::string& one : whole.missing)
      if (std::ranges::find(view_.missing, one) == view_.missing.end())
        view_.missing.push_back(one);
    RINGLET_TRY(Split(whole));
    kind.node_count = view_.nodes.size() - kind.first_node;
    view_.hosts += hosts;
    view_.kinds.push_back(std::move(kind));
    return Ok();
  }

  // Reports a machine without GPUs. Adds findings of its file, which may be a skeleton or broken.
  Error NoGpus(const PathView& whole) const {
    const bool known = !request_.machine.source.file.empty() && !whole.missing.empty();
    return {Code::kInvalidArgument,
            fmt::format("{} does not have GPUs to plan for; {}", whole.title,
                        known ? fmt::format("{}", fmt::join(whole.missing, "; "))
                              : "name a topology file, or a machine by --synthetic")};
  }

  // Splits a host into nodes: groups of GPUs that reach each other without the network.
  Status Split(const PathView& whole) {
    const std::vector<NodeIndex>& gpus = whole.paths.Of(NodeKind::kGpu);
    if (gpus.empty()) return NoGpus(whole);
    const std::vector<std::uint32_t> domains = topology::DomainsOf(whole.paths);
    for (std::uint32_t i = 0; i < gpus.size(); ++i) {
      if (domains[i] != i) continue;
      RINGLET_TRY_ASSIGN(
          topology::Graph graph,
          topology::TrimToDomain(whole.paths, Rank{whole.graph->at(gpus[i]).number}));
      NodeView node;
      node.graph = std::make_unique<topology::Graph>(std::move(graph));
      RINGLET_TRY_ASSIGN(node.paths, topology::FindPaths(*node.graph, 0, whole.options));
      for (const NodeIndex gpu : node.paths.Of(NodeKind::kGpu))
        node.gpus.push_back(LabelOf(*node.graph, gpu));
      for (const NodeIndex net : node.paths.Of(NodeKind::kNet))
        node.nets.push_back(LabelOf(*node.graph, net));
      view_.nodes.push_back(std::move(node));
    }
    return Ok();
  }

  Status Plan(NodeView& node) {
    plan::NodeClass planned{.plan = {},
                            .locals = plan::LocalsOf(node.paths),
                            .compute_capability = plan::LeastCapability(node.paths)};
    const Instant start = os::Now();
    const std::string file = request_.graph_file.empty()
                                 ? FromEnvironment(environment_, "NCCL_GRAPH_FILE")
                                 : request_.graph_file;
    if (file.empty()) {
      RINGLET_TRY_ASSIGN(planned.plan, plan::SearchHost(node.paths, search_, &node.search_traces));
    } else {
      RINGLET_TRY_ASSIGN(planned.plan, Read(file, node));
    }
    node.search_time = os::Now() - start;
    if (request_.cross_nic == 0) planned.rails = RailsOf(node);
    view_.classes.push_back(std::move(planned));
    return Ok();
  }

  /// Returns the rails of NICs. NICs with the same number share a rail unless the file names rails.
  static std::vector<std::uint32_t> RailsOf(const NodeView& node) {
    std::vector<std::uint32_t> rails;
    for (const NodeIndex net : node.paths.Of(NodeKind::kNet))
      rails.push_back(node.graph->net(net).rail.value_or(node.graph->at(net).number));
    return rails;
  }

  Result<plan::HostPlan> Read(const std::string& file, const NodeView& node) const {
    if (view_.nodes.size() > 1)
      return Error{
          Code::kInvalidArgument,
          fmt::format("{} is for one kind of node, but the plan has {}", file, view_.nodes.size())};
    RINGLET_TRY_ASSIGN(const std::string text, ReadUserFile(file, topology::kXmlBytesMax));
    return plan::ReadGraphs(text, file, plan::NamesOf(node.paths));
  }

  Status Dump() const {
    const std::string file = request_.graph_dump.empty()
                                 ? FromEnvironment(environment_, "NCCL_GRAPH_DUMP_FILE")
                                 : request_.graph_dump;
    if (file.empty()) return Ok();
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << plan::WriteGraphs(view_.classes.front().plan, plan::NamesOf(view_.nodes.front().paths));
    out.close();
    if (out.good()) return Ok();
    return Error{Code::kSystem, fmt::format("{} cannot be written", file)};
  }

  /// Adds to an error of Join, which counts nodes, that a host has several nodes.
  Error WithNodes(Error error) const {
    for (const HostKind& kind : view_.kinds)
      if (kind.node_count > 1)
        error.message +=
            fmt::format(" ({} counts as {} nodes, because its GPUs cannot all reach each other)",
                        kind.title, kind.node_count);
    return error;
  }

  // Returns blocks of nodes, host by host. Hosts of a kind with one node each form one block.
  std::vector<plan::NodeBlock> Blocks() const {
    std::vector<plan::NodeBlock> blocks;
    std::uint32_t rank = 0;
    for (const HostKind& kind : view_.kinds) {
      const auto first = static_cast<std::uint32_t>(kind.first_node);
      if (kind.node_count == 1) {
        blocks.push_back({first, kind.hosts, Rank{rank}});
        rank += kind.hosts * view_.classes[first].plan.devices;
        continue;
      }
      for (std::uint32_t host = 0; host < kind.hosts; ++host)
        for (std::uint32_t i = first; i < first + kind.node_count; ++i) {
          blocks.push_back({i, 1, Rank{rank}});
          rank += view_.classes[i].plan.devices;
        }
    }
    return blocks;
  }

  const PlanRequest& request_;
  const EnvMap& environment_;
  plan::SearchOptions search_;
  PlanView view_;
};

/// Returns the plans with fewer channels. As in NCCL, channels are removed after the search.
std::vector<plan::HostPlan> FirstChannels(const plan::HostPlan& plan) {
  std::vector<plan::HostPlan> plans;
  for (std::size_t count = 1; count <= plan.of(plan::GraphId::kRing).channels.size(); ++count) {
    plan::HostPlan fewer = plan;
    for (plan::PatternGraph& graph : fewer.graphs)
      graph.channels.resize(std::min(graph.channels.size(), count));
    plans.push_back(std::move(fewer));
  }
  return plans;
}

/// Adds options for the number of channels and for the NICs by which they leave.
void AddNetworkRequest(CLI::App& command, PlanRequest& request) {
  command
      .add_option("--channels", request.channels,
                  "Maximum number of channels within a host; default: the fewest with nine tenths "
                  "of the best bandwidth, if the best needs more than twice the channels of NCCL")
      ->check(CLI::Range(1u, plan::kSearchChannelsMax));
  command
      .add_option_function<std::string>(
          "--fabric",
          [&request](const std::string& word) { request.cross_nic = word == "rail" ? 0 : 1; },
          "Network between hosts: rail, if a NIC reaches only NICs of the same number "
          "(NCCL_CROSS_NIC=0), or full, if all NICs reach each other (1); default: NCCL_CROSS_NIC")
      ->check(
          [](const std::string& word) {
            const bool known = word == "rail" || word == "full";
            return known ? std::string() : fmt::format("'{}' is neither rail nor full", word);
          },
          "{rail,full}");
}

}  // namespace

void AddPlanRequest(CLI::App& command, PlanRequest& request) {
  AddPathRequest(command, request.machine);
  command.add_option("--topo", request.machine.source.file, "Same as FILE")->type_name(kFileType);
  command.add_option("--hosts", request.hosts, "Number of hosts of this kind")
      ->check(CLI::Range(1u, kPlannedHostsMax))
      ->capture_default_str();
  command
      .add_option("--and", request.others,
                  "Hosts of another kind: FILE, or FILE*3 for three of them; may be repeated")
      ->type_name(kFileType);
  command
      .add_option_function<std::string>(
          "--policy",
          [&request](const std::string& word) {
            request.policy = word == "best" ? plan::Policy::kBest : plan::Policy::kCompat;
          },
          "best: the best plan for the machine; compat: the plan of NCCL 2.30; default: "
          "RINGLET_PLAN_POLICY")
      ->check(
          [](const std::string& word) {
            const bool known = word == "best" || word == "compat";
            return known ? std::string() : fmt::format("'{}' is neither best nor compat", word);
          },
          "{best,compat}");
  AddNetworkRequest(command, request);
  command
      .add_option("--graph-file", request.graph_file,
                  "Channels from an NCCL graph file, instead of the search; - is standard input")
      ->type_name(kFileType);
  command
      .add_option("--dump-graph", request.graph_dump,
                  "Write the channels of a host as an NCCL graph file")
      ->type_name(kFileType);
}

Result<PlanView> MakePlanView(const PlanRequest& request, const EnvMap& environment) {
  return Viewer(request, environment).Run();
}

plan::GpuPlan GpuPlanOf(PlanView view, plan::Tuning tuning) {
  std::vector<const topology::Paths*> kinds;
  for (const NodeView& node : view.nodes) kinds.push_back(&node.paths);
  const plan::P2pChannels messages = plan::P2pChannelsFor(kinds, view.joined.plan);
  std::vector<plan::GpuSystem> systems;
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    NodeView& node = view.nodes[i];
    std::vector<NodeIndex> gpus = node.paths.Of(NodeKind::kGpu);
    std::ranges::sort(gpus, {}, [&](NodeIndex gpu) { return node.graph->at(gpu).number; });
    systems.push_back({.graph = std::move(node.graph),
                       .paths = std::move(node.paths),
                       .planned = std::move(view.classes[i]),
                       .gpus = std::move(gpus)});
  }
  std::vector<plan::GpuNode> nodes;
  std::uint32_t hosts = 0;
  for (const HostKind& kind : view.kinds)
    for (std::uint32_t copy = 0; copy < kind.hosts; ++copy) {
      std::map<std::uint64_t, std::uint32_t> numbers;  // by identity
      for (std::size_t i = kind.first_node; i < kind.first_node + kind.node_count; ++i) {
        const auto number = static_cast<std::uint32_t>(nodes.size());
        plan::GpuNode& node =
            nodes.emplace_back(plan::GpuNode{.system = static_cast<std::uint32_t>(i),
                                             .ranks = view.joined.plan.RanksOf(number),
                                             .hosts = {}});
        for (const topology::HostNodes& host : systems[i].graph->hosts()) {
          const auto [its, fresh] = numbers.try_emplace(host.identity, hosts);
          if (fresh) ++hosts;
          node.hosts.push_back(its->second);
        }
      }
    }
  return {std::move(systems), std::move(nodes), std::move(view.joined), std::move(tuning),
          messages};
}

std::vector<plan::HostPlan> PlansByChannels(const PlanView& view) {
  std::vector<plan::HostPlan> plans;
  plan::SearchOptions options = view.search;
  if (view.policy == plan::Policy::kCompat) return FirstChannels(view.classes.front().plan);
  options.knee = false;
  options.channels_min = 1;
  options.channels_max = plan::kSearchChannelsMax;
  const auto most = plan::SearchHost(view.nodes.front().paths, options);
  if (!most.ok()) return plans;
  const std::size_t count = std::max(most->of(plan::GraphId::kRing).channels.size(),
                                     most->of(plan::GraphId::kTree).channels.size());
  for (std::uint32_t channels = 1; channels < count; ++channels) {
    options.channels_max = channels;
    auto fewer = plan::SearchHost(view.nodes.front().paths, options);
    if (fewer.ok()) plans.push_back(*std::move(fewer));
  }
  plans.push_back(*most);
  return plans;
}

Result<plan::TuningInput> TuningInputOf(const PlanView& view, const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(environment));
  RINGLET_TRY_ASSIGN(plan::TuningChoice choice, plan::ReadTuningChoice(settings));
  std::vector<const topology::Paths*> kinds;
  for (const NodeView& node : view.nodes) kinds.push_back(&node.paths);
  return plan::TuningInputFor(kinds, view.joined, std::move(choice));
}

}  // namespace ringlet::cli
