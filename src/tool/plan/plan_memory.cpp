#include "tool/plan/plan_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/settings/settings.hpp"
#include "os/clock.hpp"
#include "os/fs/conf_files.hpp"
#include "plan/tuning/user_limits.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kShownRanksMax = 64;

std::uint32_t ProcessorsOf(const topology::HostView& view) {
  std::size_t processors = 0;
  for (const topology::NumaNode& node : view.numa_nodes) processors += node.cpus.Count();
  return static_cast<std::uint32_t>(std::max(processors, view.numa_nodes.size()));
}

std::string RanksText(const std::vector<Rank>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < kShownRanksMax; ++i)
    text += fmt::format(" {}", Index(ranks[i]));
  return text + (ranks.size() > kShownRanksMax ? " ..." : "");
}

std::vector<std::uint32_t> Numbers(const std::vector<Rank>& ranks) {
  std::vector<std::uint32_t> numbers;
  for (const Rank rank : ranks) numbers.push_back(Index(rank));
  return numbers;
}

}  // namespace

Result<MemoryPlan> PlanMemory(const PlanRequest& request, std::uint32_t ranks,
                              const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(environment));
  RINGLET_TRY_ASSIGN(plan::SearchLimits user_limits, plan::ReadUserLimits(settings));
  if (request.policy) user_limits.plain = request.policy == plan::Policy::kCompat;
  RINGLET_TRY_ASSIGN(const LoadedTopology loaded, LoadTopology(request.machine.source));
  if (ranks == 0) ranks = ProcessorsOf(loaded.view);
  if (std::uint64_t{ranks} * request.hosts > kPlannedMemoryRanksMax)
    return Error{Code::kUnsupported,
                 fmt::format("{} of {} are more than {} in all", Counted(request.hosts, "host"),
                             Counted(ranks, "rank"), kPlannedMemoryRanksMax)};
  std::vector<topology::HostView> hosts(request.hosts, loaded.view);
  std::vector<topology::RankPlace> places;
  const std::size_t numas = loaded.view.numa_nodes.size();
  for (std::uint32_t host = 0; host < request.hosts; ++host) {
    hosts[host].identity = host + 1;
    for (std::uint32_t i = 0; i < ranks; ++i)
      places.push_back({Rank{host * ranks + i}, host,
                        loaded.view.numa_nodes[std::uint64_t{i} * numas / ranks].id});
  }
  RINGLET_TRY_ASSIGN(const topology::Graph graph, topology::Build(hosts, places));
  MemoryPlan planned{.title = loaded.title, .hosts = request.hosts, .plan = {}};
  const Instant start = os::Now();
  RINGLET_TRY_ASSIGN(planned.plan, plan::Search(graph, user_limits));
  planned.time = os::Now() - start;
  return planned;
}

std::string MemoryPlanText(const MemoryPlan& planned) {
  const plan::ChannelPlan& plan = planned.plan;
  std::string text =
      fmt::format("{}: {}, {} in CPU memory\n\n{}, {} GB/s together\n", planned.title,
                  Counted(planned.hosts, "host"), Counted(plan.rank_count(), "rank"),
                  Counted(plan.channel_count(), "channel"), GigabytesText(plan.ring_bandwidth()));
  for (std::uint32_t channel = 0; channel < plan.counts().rings; ++channel)
    text += fmt::format("  {}: {} GB/s, ring{}\n", channel, GigabytesText(plan.speed(channel).ring),
                        RanksText(plan.Ring(channel)));
  const plan::Leaders leaders = LeadersOf(plan, Rank{0});
  text += fmt::format("\nrank {} leads its host; on each NUMA node\n", Index(leaders.host));
  for (const std::vector<Rank>& group : leaders.groups)
    text += fmt::format("  {} leads{}\n", Index(group.front()), RanksText(group));
  return text + fmt::format("\nplanned in {:.3f} ms; a rank keeps {} bytes of it\n",
                            static_cast<double>(planned.time.count()) / 1e6, plan.bytes());
}

std::string MemoryPlanJson(const MemoryPlan& planned) {
  using Json = nlohmann::ordered_json;
  const plan::ChannelPlan& plan = planned.plan;
  Json channels = Json::array();
  for (std::uint32_t channel = 0; channel < plan.counts().rings; ++channel)
    channels.push_back({{"bandwidth_gb_s", plan.speed(channel).ring.mb_per_s / 1000.0},
                        {"order", Numbers(plan.Ring(channel))}});
  const Json json = {{"ranks", plan.rank_count()},
                     {"hosts", planned.hosts},
                     {"total_gb_s", plan.ring_bandwidth().mb_per_s / 1000.0},
                     {"final_channels", plan.channel_count()},
                     {"channels", std::move(channels)},
                     {"plan_ms", static_cast<double>(planned.time.count()) / 1e6},
                     {"plan_bytes", plan.bytes()},
                     {"digest", fmt::format("{:016x}", plan.digest())}};
  return JsonText(json);
}

}  // namespace ringlet::cli
