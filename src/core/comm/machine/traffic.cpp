#include "comm/machine/traffic.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ringlet::comm {
namespace {

using collective::SentBytes;
using plan::TransferPurpose;
using Json = nlohmann::ordered_json;

/// Identifies a link of a host equally in every communicator and on every rank.
using LinkKey = std::tuple<std::uint64_t, std::string, std::string>;  // host, from, to

struct LinkBytes {
  topology::LinkKind kind = topology::LinkKind::kLocal;
  std::uint32_t mb_per_s = 0;
  std::uint32_t nominal_mb_per_s = 0;  ///< larger if RINGLET_SLOW has slowed it
  std::uint64_t measured = 0, planned = 0;
};

class LinksOfRank {
 public:
  LinksOfRank(const GpuMachine& machine, Rank self) : machine_(machine), self_(self) {}

  void Add(const SentBytes& sent, TransferPurpose carriage, std::uint64_t LinkBytes::*which) {
    for (const auto& [hop, bytes] : sent.all()) {
      const auto& [peer, channel] = hop;
      if (carriage != TransferPurpose::kMessage) {
        AddRoute(peer, channel, carriage, bytes, which);
        continue;
      }
      const auto channels = machine_.ChannelsOfMessage(self_, peer);
      for (std::size_t i = 0; i < channels.size(); ++i)
        AddRoute(peer, channels[i], carriage,
                 bytes * (i + 1) / channels.size() - bytes * i / channels.size(), which);
    }
  }

  Json ToJson() const {
    Json links = Json::array();
    for (const auto& [key, load] : loads_) {
      const auto& [host, from, to] = key;
      links.push_back({{"host", fmt::format("{:016x}", host)},
                       {"from", from},
                       {"to", to},
                       {"kind", NameOf(load.kind)},
                       {"mb_per_s", load.mb_per_s},
                       {"measured_bytes", load.measured},
                       {"planned_bytes", load.planned}});
      if (load.nominal_mb_per_s != load.mb_per_s)
        links.back()["nominal_mb_per_s"] = load.nominal_mb_per_s;
    }
    return links;
  }

 private:
  LinkKey KeyOf(const plan::HardwareLink& link) const {
    const plan::GpuPlan& gpus = machine_.gpus();
    const topology::Graph& graph = *gpus.systems[gpus.nodes[link.node].system].graph;
    return {machine_.IdentityOf(HostOf(gpus, link)), topology::NameOnHost(graph, link.from),
            topology::NameOnHost(graph, link.to)};
  }

  static LinkBytes LinkOf(const topology::Hop& hop, std::uint32_t share) {
    const std::uint64_t slowed = std::uint64_t{hop.bandwidth.mb_per_s} * share / SlowLink::kWhole;
    return {.kind = hop.kind,
            .mb_per_s = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, slowed)),
            .nominal_mb_per_s = hop.bandwidth.mb_per_s};
  }

  void AddRoute(Rank peer, std::uint32_t channel, TransferPurpose carriage, std::uint64_t bytes,
                std::uint64_t LinkBytes::*which) {
    if (bytes == 0) return;
    const plan::GpuPlan& gpus = machine_.gpus();
    const plan::GpuRoute route = plan::RouteOf(gpus, self_, peer, channel, carriage);
    for (std::size_t i = 0; i < route.links.size(); ++i) {
      const topology::Hop& hop = route.hops[i];
      const auto [its, fresh] = loads_.try_emplace(KeyOf(route.links[i]));
      LinkBytes& load = its->second;
      if (fresh) load = LinkOf(hop, machine_.ShareOf(route.links[i]));
      load.*which += bytes;
    }
  }

  const GpuMachine& machine_;
  Rank self_;
  std::map<LinkKey, LinkBytes> loads_;
};

Json CallJson(collective::CallKind kind, std::size_t count, std::size_t element_bytes,
              std::uint64_t calls, const MachineAlgorithm& way) {
  Json json = {{"function", Name(kind)}, {"count", count}, {"bytes", count * element_bytes}};
  json["calls"] = calls;
  if (!way.pick) return json;
  json["algorithm"] = NameOf(way.pick->algorithm);
  json["protocol"] = NameOf(way.pick->protocol);
  json["channels"] = way.channels;
  json["predicted_ns"] = way.pick->time_ns;
  if (way.nccl_pick) {
    json["nccl_algorithm"] = NameOf(way.nccl_pick->algorithm);
    json["nccl_predicted_ns"] = way.nccl_pick->time_ns;
  }
  if (way.slowed_ns) json["slowed_ns"] = *way.slowed_ns;
  return json;
}

}  // namespace

MachineTraffic::CallKey MachineTraffic::KeyOf(const collective::Call& call,
                                              const MachineAlgorithm& way) {
  const std::string how =
      way.pick ? fmt::format("{} {}", NameOf(way.pick->algorithm), NameOf(way.pick->protocol)) : "";
  return {call.kind, call.count, SizeOf(call.type), how};
}

void MachineTraffic::WasSlower(const collective::Call& call, const MachineAlgorithm& way) {
  ++calls_[KeyOf(call, way)].slower;
}

void MachineTraffic::Began(const collective::Call& call, collective::CallPlace place,
                           const MachineAlgorithm& way) {
  CallCount& count = calls_[KeyOf(call, way)];
  ++count.calls;
  count.way = way;
  SentBytes& planned = planned_[static_cast<std::size_t>(way.carriage)];
  for (const collective::RankLoad& load : machine_->LoadsOf(call, place, way))
    planned.Add(load.peer, load.channel, load.count * SizeOf(call.type));
}

void MachineTraffic::BeganMessage(Rank peer, std::size_t bytes, collective::CallKind kind) {
  ++calls_[{kind, bytes, 1, ""}].calls;
  if (peer != self_)
    planned_[static_cast<std::size_t>(TransferPurpose::kMessage)].Add(peer, 0, bytes);
}

std::string MachineTraffic::ToJson(std::uint64_t communicator, const std::string& host) const {
  LinksOfRank loads(*machine_, self_);
  for (const TransferPurpose carriage :
       {TransferPurpose::kRing, TransferPurpose::kTree, TransferPurpose::kMessage}) {
    const auto index = static_cast<std::size_t>(carriage);
    loads.Add(sent_[index], carriage, &LinkBytes::measured);
    loads.Add(planned_[index], carriage, &LinkBytes::planned);
  }
  Json calls = Json::array();
  for (const auto& [key, count] : calls_) {
    Json& call = calls.emplace_back(
        CallJson(std::get<0>(key), std::get<1>(key), std::get<2>(key), count.calls, count.way));
    if (count.slower > 0) call["slower_calls"] = count.slower;
  }
  const plan::NodePlace place = machine_->gpus().channels().PlaceOf(self_);
  const std::uint32_t ranks = machine_->gpus().channels().rank_count();
  const plan::GpuNode& node = machine_->gpus().nodes[place.node];
  const plan::GpuSystem& system = machine_->gpus().systems[node.system];
  const topology::NodeIndex device = system.graph->gpu(system.gpus[place.local]).device;
  const std::uint64_t identity = machine_->IdentityOf(node.hosts[system.graph->at(device).host]);
  const Json json = {{"version", 1},
                     {"communicator", fmt::format("{:016x}", communicator)},
                     {"rank", Index(self_)},
                     {"ranks", ranks},
                     {"node", place.node},
                     {"host", host},
                     {"host_identity", fmt::format("{:016x}", identity)},
                     {"gpu", topology::NameOnHost(*system.graph, device)},
                     {"links", loads.ToJson()},
                     {"calls", std::move(calls)}};
  return json.dump(1) + "\n";
}

}  // namespace ringlet::comm
