#include "comm/establish/local_resources.hpp"

#include <algorithm>
#include <utility>

#include "base/settings/agreement.hpp"
#include "comm/establish/listeners.hpp"
#include "topology/view/host_shape.hpp"

namespace ringlet::comm {

PeerInfo PeerInfoOf(const Process& process, const Config& config, const LocalHost& local_host,
                    const transport::ListenerSet& listeners, const HostMemoryDraft& draft) {
  PeerInfo peer_info{.host_hash = process.facts().host_hash,
                     .process_hash = process.facts().process_hash,
                     .network_namespace = process.facts().NetNamespaceOf(listeners),
                     .host_shape_digest = topology::ShapeOf(local_host.view).digest(),
                     .settings_digest = AgreementDigest(process.settings()),
                     .device = config.device,
                     .names_device = config.names_device,
                     .knows_devices = local_host.knows_devices,
                     .numa = local_host.numa,
                     .cpus = local_host.allowed,
                     .tcp = listeners.tcp,
                     .preferred = listeners.preferred,
                     .unix_socket = listeners.unix_socket};
  if (local_host.gpu) {
    const topology::Gpu& gpu = local_host.view.gpus[*local_host.gpu];
    peer_info.gpu = local_host.view.pci[gpu.pci].bus;
    peer_info.device = gpu.dev.value_or(config.device);
    if (gpu.mlopart) peer_info.half = static_cast<std::uint8_t>(*gpu.mlopart);
  }
  if (draft.proof) peer_info.nonce = draft.proof->nonce();
  if (draft.arena)
    if (auto place = draft.arena->PlaceIn(process.host().pid); place.ok()) peer_info.arena = *place;
  return peer_info;
}

Result<LocalResources> ExchangePeerInfo(const Origin& origin, Control& control,
                                        LocalResources local_resources) {
  RINGLET_TRY_ASSIGN(const bootstrap::Table table,
                     control.AllGather(Encode(
                         PeerInfoOf(*origin.process, origin.config, local_resources.local_host,
                                    local_resources.listeners, local_resources.memory))));
  local_resources.peer_infos.clear();
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
    RINGLET_TRY_ASSIGN(PeerInfo peer_info, DecodePeerInfo(table.At(Rank{rank})));
    local_resources.peer_infos.push_back(std::move(peer_info));
  }
  return local_resources;
}

bool HasUnreadDevices(const std::vector<PeerInfo>& peer_infos) {
  const auto elsewhere = [&](const PeerInfo& one) {
    return one.host_hash != peer_infos[0].host_hash;
  };
  const auto lacks = [](const PeerInfo& one) { return !one.knows_devices; };
  return std::ranges::any_of(peer_infos, elsewhere) && std::ranges::any_of(peer_infos, lacks);
}

Result<LocalResources> WithDevices(const Origin& origin, Control& control,
                                   LocalResources local_resources) {
  if (!HasUnreadDevices(local_resources.peer_infos)) return local_resources;
  local_resources = {};  // frees its ports for the next listeners
  Config config = origin.config;
  config.expects_one_host = false;
  RINGLET_TRY_ASSIGN(local_resources.local_host, DiscoverLocal(*origin.process, config));
  RINGLET_TRY_ASSIGN(local_resources.listeners,
                     OpenDataListener(*origin.process, origin.credentials,
                                      local_resources.local_host, config.size));
  return ExchangePeerInfo(origin, control, std::move(local_resources));
}

}  // namespace ringlet::comm
