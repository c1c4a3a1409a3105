// The common parts of commands that show plans: a machine, how many there are of it, and the plan
// for all of them.
#pragma once
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "plan/channels/join.hpp"
#include "plan/gpus/gpu_plan.hpp"
#include "plan/policy/host_search.hpp"
#include "plan/tuning/tuning.hpp"
#include "tool/topo/topo_paths.hpp"

namespace ringlet::cli {

struct PlanRequest {
  PathRequest machine;
  std::uint32_t hosts = 1;
  std::vector<std::string> others;          ///< hosts of other kinds: "FILE", or "FILE*3" for three
  std::optional<plan::Policy> policy = {};  ///< else RINGLET_PLAN_POLICY
  std::uint32_t channels = 0;               ///< at most, within a host; 0: the knee
  std::optional<std::uint32_t> cross_nic = {};  ///< else NCCL_CROSS_NIC
  std::string graph_file;                       ///< empty: NCCL_GRAPH_FILE, else the search
  std::string graph_dump;  ///< empty: NCCL_GRAPH_DUMP_FILE, else none is written
};

inline constexpr std::uint32_t kPlannedHostsMax = 1'000'000;

/// The source, --hosts, --and, --policy, --channels, --fabric, --graph-file and --dump-graph, and
/// those of AddPathRequest. \param request  outlives the parsing
void AddPlanRequest(CLI::App& command, PlanRequest& request);

/// One node of a host: what GPUs reach each other in without the network.
struct NodeView {
  std::unique_ptr<topology::Graph> graph;  ///< where `paths` expects it
  topology::Paths paths;
  std::vector<plan::SearchTrace> search_traces;
  std::vector<std::string> gpus, nets;  ///< labels, by the numbers of the plan
  std::chrono::nanoseconds search_time{0};
};

/// Hosts that are alike. Ranks go through kinds in order, and through hosts of each.
struct HostKind {
  std::string title;
  std::uint32_t hosts = 1;
  std::size_t first_node = 0, node_count = 0;  ///< in PlanView::nodes
  topology::HostView machine = {};             ///< one of them
};

struct PlanView {
  std::string title;
  std::vector<std::string> missing;  ///< facts that discovery did not find; hints
  std::uint32_t hosts = 1;           ///< of all kinds
  plan::Policy policy = plan::Policy::kBest;
  plan::SearchOptions search = {};  ///< by which nodes were planned
  std::vector<HostKind> kinds;
  std::vector<NodeView> nodes;           ///< those of one host of each kind
  std::vector<plan::NodeClass> classes;  ///< one for each of `nodes`
  plan::JoinedPlan joined;
  std::chrono::nanoseconds join_time{0};

  std::uint32_t ranks() const { return joined.plan.rank_count(); }
};

/// The plans of the first node with at most 1, 2, ... channels, up to as many as there can be of
/// use. Cost    as many searches
std::vector<plan::HostPlan> PlansByChannels(const PlanView& view);

/// Errors  kInvalidArgument, kSystem, kUnsupported  as FindPathView, SearchHost and Join; a graph
///         file makes no sense, or stands for a host that is several nodes
Result<PlanView> MakePlanView(const PlanRequest& request, const EnvMap& environment);

/// For the model of times.
/// Errors  kInvalidArgument  a word of NCCL_ALGO or NCCL_PROTO makes no sense
Result<plan::TuningInput> TuningInputOf(const PlanView& view, const EnvMap& environment);

/// The same plan as communicators have it, for routes and flows. Hosts are counted in the order of
/// their nodes.
/// Cost  O(ranks)
plan::GpuPlan GpuPlanOf(PlanView view, plan::Tuning tuning);

}  // namespace ringlet::cli
