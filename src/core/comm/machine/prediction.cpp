#include "comm/machine/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/value/text.hpp"
#include "collective/algorithm/over_channels.hpp"
#include "comm/machine/machine.hpp"
#include "os/fs/conf_files.hpp"
#include "os/process/env.hpp"
#include "topology/view/host_shape.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::comm {
namespace {

using collective::Call;
using collective::CallKind;
using collective::RankLoad;
using plan::NcclAlgorithm;
using plan::TransferPurpose;
using Json = nlohmann::ordered_json;

/// Returns the call with a larger buffer of `bytes`. Elements are bytes.
Call CallOf(CallKind kind, std::uint64_t bytes, std::uint32_t ranks) {
  const bool block_each = kind == CallKind::kAllGather || kind == CallKind::kReduceScatter;
  return {.kind = kind, .count = block_each ? bytes / ranks : bytes, .type = DataType::kUint8};
}

class FlowCounter {
 public:
  explicit FlowCounter(const plan::GpuPlan& plan) : plan_(plan) {}

  void Add(Rank from, const RankLoad& load, TransferPurpose carriage) {
    const plan::GpuRoute route = plan::RouteOf(plan_, from, load.peer, load.channel, carriage);
    for (std::size_t i = 0; i < route.links.size(); ++i) {
      const auto [its, fresh] = flows_.try_emplace(route.links[i]);
      if (fresh) its->second.bandwidth = route.hops[i].bandwidth;
      its->second.kind = route.hops[i].kind;
      its->second.bytes += load.count;
    }
  }

  /// Returns the links by name, the busiest first. Nodes of one host share its links.
  std::vector<LinkFlow> Take() {
    std::map<std::tuple<std::uint32_t, std::string, std::string>, LinkFlow> by_name;
    for (auto& [link, flow] : flows_) {
      const topology::Graph& graph = *plan_.systems[plan_.nodes[link.node].system].graph;
      flow.host = HostOf(plan_, link);
      flow.from = topology::NameOnHost(graph, link.from);
      flow.to = topology::NameOnHost(graph, link.to);
      const auto [its, fresh] = by_name.try_emplace({flow.host, flow.from, flow.to}, flow);
      if (!fresh) its->second.bytes += flow.bytes;
    }
    std::vector<LinkFlow> links;
    for (auto& [name, flow] : by_name) links.push_back(std::move(flow));
    std::ranges::stable_sort(links, std::greater<>(), &LinkFlow::time_us);
    return links;
  }

 private:
  const plan::GpuPlan& plan_;
  std::map<plan::HardwareLink, LinkFlow> flows_;
};

Json FlowsJson(const Flows& flows) {
  Json links = Json::array();
  for (const LinkFlow& link : flows.links)
    links.push_back({{"host", link.host},
                     {"from", link.from},
                     {"to", link.to},
                     {"kind", NameOf(link.kind)},
                     {"mb_per_s", link.bandwidth.mb_per_s},
                     {"bytes", link.bytes},
                     {"time_us", link.time_us()}});
  return {{"algorithm", NameOf(flows.pick.algorithm)},
          {"protocol", NameOf(flows.pick.protocol)},
          {"channels", flows.channels},
          {"time_us", static_cast<double>(flows.pick.time_ns) / 1000},
          {"links", std::move(links)}};
}

Error CannotPredict(std::string why) {
  return {Code::kInvalidArgument, std::move(why)};
}

/// Returns equal machines, each with all its GPUs as ranks.
Result<std::vector<topology::HostView>> HostsOf(const PredictionRequest& request) {
  RINGLET_TRY_ASSIGN(const topology::HostView view,
                     topology::ViewFromXml(request.xml, request.name));
  if (view.gpus.empty())
    return CannotPredict(fmt::format("{} lacks GPUs to plan for", request.name));
  if (request.hosts == 0) return CannotPredict("hosts: the number of hosts is 0; use 1 or more");
  const std::uint64_t ranks = std::uint64_t{request.hosts} * view.gpus.size();
  if (ranks > kFlowRanksMax)
    return Error{
        Code::kUnsupported,
        fmt::format("hosts: {} GPUs on {} hosts are too many to predict here; the maximum is {}",
                    ranks, request.hosts, kFlowRanksMax)};
  const topology::HostView shape = topology::ShapeOf(view);
  std::vector<topology::HostView> hosts;
  std::uint32_t rank = 0;
  for (std::uint32_t host = 0; host < request.hosts; ++host) {
    hosts.push_back(topology::HostOfShape(shape, fmt::format("host{}", host), host + 1));
    for (topology::Gpu& gpu : hosts.back().gpus) gpu.rank = rank++;
  }
  return hosts;
}

Result<CallKind> KindCalled(const std::string& operation) {
  const auto kind = collective::CallKindNamed(operation);
  if (kind && FunctionOf(*kind)) return *kind;
  return CannotPredict(
      fmt::format("op: {} is not one of all_reduce, all_gather, reduce_scatter, broadcast, reduce",
                  Quoted(operation)));
}

}  // namespace

Status CheckFlows(std::uint32_t ranks) {
  if (ranks <= kFlowRanksMax) return Ok();
  return Error{Code::kUnsupported, fmt::format("flows of {} ranks are too many; the maximum is {}",
                                               ranks, kFlowRanksMax)};
}

Result<Flows> FlowsOf(const plan::GpuPlan& plan, CallKind kind, std::uint64_t bytes) {
  const plan::ChannelPlan& channels = plan.channels();
  const std::uint32_t ranks = channels.rank_count();
  RINGLET_TRY(CheckFlows(ranks));
  constexpr std::array kRun = {NcclAlgorithm::kTree, NcclAlgorithm::kRing};
  const auto pick = plan.tuning.PickOf(*FunctionOf(kind), kRun, bytes);
  if (!pick)
    return CannotPredict(
        "NCCL_ALGO and NCCL_PROTO leave neither rings nor trees, and only these have flows: allow "
        "Ring and Simple");
  Flows flows{.pick = *pick, .channels = plan.tuning.LaunchOf(*pick, bytes).channels};
  const bool on_rings = pick->algorithm == NcclAlgorithm::kRing;
  std::vector<std::vector<Rank>> rings;
  for (std::uint32_t i = 0; on_rings && i < flows.channels; ++i) rings.push_back(channels.Ring(i));
  const Call call = CallOf(kind, bytes, ranks);
  FlowCounter counter(plan);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const Rank self{i};
    const auto loads =
        on_rings ? LoadsOverRings(call, {.self = self, .ranks = ranks}, rings)
                 : LoadsOverTrees(call, collective::TreesOf(channels, self, flows.channels));
    for (const RankLoad& load : loads)
      counter.Add(self, load, on_rings ? TransferPurpose::kRing : TransferPurpose::kTree);
  }
  flows.links = counter.Take();
  return flows;
}

std::string ToJson(const Prediction& prediction) {
  Json json = {{"function", Name(prediction.kind)},
               {"bytes", prediction.bytes},
               {"ranks", prediction.ranks},
               {"hosts", prediction.hosts},
               {"algorithm", NameOf(prediction.pick.algorithm)},
               {"protocol", NameOf(prediction.pick.protocol)},
               {"channels", prediction.launch.channels},
               {"threads", prediction.launch.threads},
               {"time_us", prediction.time_us()},
               {"algbw", prediction.algbw()},
               {"busbw", prediction.busbw()}};
  if (prediction.flows) json["flows"] = FlowsJson(*prediction.flows);
  return json.dump(2) + "\n";
}

Result<std::string> PredictionJson(const PredictionRequest& request) {
  RINGLET_TRY_ASSIGN(const CallKind kind, KindCalled(request.operation));
  if (request.bytes == 0) return CannotPredict("bytes: the number of bytes is 0; use 1 or more");
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(os::ReadEnvironment()));
  RINGLET_TRY_ASSIGN(const plan::GpuPlanOptions options, GpuPlanOptionsOf(settings));
  RINGLET_TRY_ASSIGN(const auto hosts, HostsOf(request));
  RINGLET_TRY_ASSIGN(const plan::GpuPlan plan, plan::PlanGpus(hosts, options));
  Prediction prediction{.kind = kind,
                        .bytes = request.bytes,
                        .ranks = plan.channels().rank_count(),
                        .hosts = request.hosts};
  RINGLET_TRY_ASSIGN(prediction.pick, plan.tuning.Pick(*FunctionOf(kind), request.bytes));
  prediction.launch = plan.tuning.LaunchOf(prediction.pick, request.bytes);
  if (request.flows) {
    RINGLET_TRY_ASSIGN(prediction.flows, FlowsOf(plan, kind, request.bytes));
  }
  return ToJson(prediction);
}

}  // namespace ringlet::comm
