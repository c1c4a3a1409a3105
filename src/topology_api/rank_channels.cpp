#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan/channels/graph_file.hpp"
#include "plan/gpus/gpu_plan.hpp"
#include "plan/tuning/user_limits.hpp"
#include "ringlet/topology.hpp"
#include "topology_api/contents.hpp"

namespace ringlet::topology {
namespace {

constexpr std::uint32_t kHostsMax = 1024;

/// Numbers all GPUs of a host from 0 on: those with a rank in its order, then the others.
std::uint32_t RankAllGpus(HostView& view) {
  std::vector<std::size_t> order(view.gpus.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return view.gpus[i].rank ? std::uint64_t{*view.gpus[i].rank} : ~std::uint64_t{0};
  });
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) view.gpus[order[rank]].rank = rank;
  return static_cast<std::uint32_t>(order.size());
}

/// Returns the host as one of several equal ones: with ranks, an identity and NVLink domains of its
/// own.
HostView CopyOf(const HostView& view, std::uint32_t copy, std::uint32_t first_rank) {
  constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio
  const std::uint64_t offset = copy * kSpread;
  HostView host = view;
  host.identity += offset;
  for (NumaNode& node : host.numa_nodes)
    if (node.host) *node.host += offset;
  for (Gpu& gpu : host.gpus) {
    *gpu.rank += first_rank;
    if (gpu.fabric) gpu.fabric->cluster[1] += offset;
  }
  return host;
}

RankChannel ChannelOf(const plan::ChannelPlan& plan, std::uint32_t channel) {
  RankChannel result;
  for (const Rank rank : plan.Ring(channel)) result.ring.push_back(Index(rank));
  for (std::uint32_t rank = 0; rank < plan.rank_count(); ++rank) {
    const std::optional<Rank> up = plan.At(Rank{rank}, channel).up;
    result.parents.push_back(up ? std::optional(Index(*up)) : std::nullopt);
  }
  result.ring_gb_per_s = GigabytesOf(plan.speed(channel).ring);
  result.tree_gb_per_s = GigabytesOf(plan.speed(channel).tree);
  return result;
}

RankChannels ChannelsOf(const plan::GpuPlan& planned, std::uint32_t hosts) {
  const plan::ChannelPlan& plan = planned.channels();
  RankChannels result{.ranks = plan.rank_count(),
                      .rings = plan.counts().rings,
                      .trees = plan.counts().trees,
                      .channels = {},
                      .ring_gb_per_s = GigabytesOf(plan.ring_bandwidth()),
                      .digest = plan.digest(),
                      .graph_file = {}};
  for (std::uint32_t channel = 0; channel < plan.channel_count(); ++channel)
    result.channels.push_back(ChannelOf(plan, channel));
  const plan::GpuSystem& system = planned.systems.front();
  if (planned.nodes.size() == hosts)
    result.graph_file = plan::WriteGraphs(system.planned.plan, plan::NamesOf(system.paths));
  return result;
}

Result<plan::GpuPlanOptions> OptionsFor(const ChannelRequest& request) {
  if (request.hosts == 0 || request.hosts > kHostsMax)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} hosts; give 1 to {}", request.hosts, kHostsMax)};
  if (request.channels_max > plan::kSearchChannelsMax)
    return Error{Code::kInvalidArgument,
                 fmt::format("channels_max is {}; give at most {}", request.channels_max,
                             plan::kSearchChannelsMax)};
  plan::GpuPlanOptions options;
  RINGLET_TRY_ASSIGN(options.search, plan::ReadSearchOptions({}));
  options.search.policy = request.as_nccl ? plan::Policy::kCompat : plan::Policy::kBest;
  if (request.channels_max == 0) return options;
  options.search.channels_max = request.channels_max;
  options.search.knee = false;
  options.channels.max = 2 * request.channels_max;  // Join() makes two channels of each
  return options;
}

}  // namespace

Result<RankChannels> PlanChannels(const Topology& topology, const ChannelRequest& request) {
  RINGLET_TRY_ASSIGN(const plan::GpuPlanOptions options, OptionsFor(request));
  HostView view = topology.contents().view;
  const std::uint32_t gpus = RankAllGpus(view);
  if (gpus == 0)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} does not have GPUs to plan for", topology.name())};
  std::vector<HostView> hosts;
  for (std::uint32_t host = 0; host < request.hosts; ++host)
    hosts.push_back(CopyOf(view, host, host * gpus));
  RINGLET_TRY_ASSIGN(const plan::GpuPlan planned, plan::PlanGpus(hosts, options));
  return ChannelsOf(planned, request.hosts);
}

}  // namespace ringlet::topology
