// The common parts of commands that show plans: a machine, its copies, and their common plan.
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
  std::optional<plan::Policy> policy = {};  ///< null: RINGLET_PLAN_POLICY
  std::uint32_t channels = 0;               ///< maximum within a host; 0: the knee
  std::optional<std::uint32_t> cross_nic = {};  ///< null: NCCL_CROSS_NIC
  std::string graph_file;                       ///< empty: NCCL_GRAPH_FILE, else the search
  std::string graph_dump;                       ///< empty: NCCL_GRAPH_DUMP_FILE, else no dump
};

inline constexpr std::uint32_t kPlannedHostsMax = 1'000'000;

/// Adds the source, --hosts, --and, --policy, --channels, --fabric, --graph-file, --dump-graph, and
/// the options of AddPathRequest. \param request  outlives the parsing
void AddPlanRequest(CLI::App& command, PlanRequest& request);

/// One node of a host: GPUs that reach each other without the network.
struct NodeView {
  std::unique_ptr<topology::Graph> graph;  ///< on the heap, because `paths` refers to it
  topology::Paths paths;
  std::vector<plan::SearchTrace> search_traces;
  std::vector<std::string> gpus, nets;  ///< labels, indexed by the numbers of the plan
  std::chrono::nanoseconds search_time{0};
};

/// Equal hosts. Ranks are numbered kind by kind, and host by host within a kind.
struct HostKind {
  std::string title;
  std::uint32_t hosts = 1;
  std::size_t first_node = 0, node_count = 0;  ///< range in PlanView::nodes
  topology::HostView machine = {};             ///< one of the hosts
};

struct PlanView {
  std::string title;
  std::vector<std::string> missing;  ///< facts that discovery did not find, and hints
  std::uint32_t hosts = 1;           ///< hosts of all kinds
  plan::Policy policy = plan::Policy::kBest;
  plan::SearchOptions search = {};  ///< options with which nodes were planned
  std::vector<HostKind> kinds;
  std::vector<NodeView> nodes;           ///< the nodes of one host per kind
  std::vector<plan::NodeClass> classes;  ///< one per entry of `nodes`
  plan::JoinedPlan joined;
  std::chrono::nanoseconds join_time{0};

  std::uint32_t ranks() const { return joined.plan.rank_count(); }
};

/// Returns the first node's plans with at most 1, 2, ... channels, up to the largest useful number.
/// Cost    one search per plan
std::vector<plan::HostPlan> PlansByChannels(const PlanView& view);

/// Errors  kInvalidArgument, kSystem, kUnsupported  as FindPathView, SearchHost and Join; a graph
///         file does not parse, or describes a host that is several nodes
Result<PlanView> MakePlanView(const PlanRequest& request, const EnvMap& environment);

/// Returns the input of the model of times.
/// Errors  kInvalidArgument  a word of NCCL_ALGO or NCCL_PROTO is unknown
Result<plan::TuningInput> TuningInputOf(const PlanView& view, const EnvMap& environment);

/// Returns the plan for routes and flows, as communicators use it. Hosts are in the order of nodes.
/// Cost  O(ranks)
plan::GpuPlan GpuPlanOf(PlanView view, plan::Tuning tuning);

}  // namespace ringlet::cli
