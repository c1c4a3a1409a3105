// The facts about itself and the others that a rank has before the common plan.
#pragma once
#include <vector>

#include "comm/backend/host_memory.hpp"
#include "comm/control/control.hpp"
#include "comm/establish/local_host.hpp"
#include "comm/peers/peer_info.hpp"
#include "comm/process/config.hpp"
#include "transport/wireup/listener_set.hpp"

namespace ringlet::comm {

struct LocalResources {
  LocalHost local_host;
  transport::ListenerSet listeners;  ///< of the data plane
  HostMemoryDraft memory;
  std::vector<PeerInfo> peer_infos;  ///< of all ranks
};

PeerInfo PeerInfoOf(const Process& process, const Config& config, const LocalHost& local_host,
                    const transport::ListenerSet& listeners, const HostMemoryDraft& draft);

/// Returns the local resources with newly exchanged peer infos of all ranks of `control`.
/// Errors  as Control::AllGather
Result<LocalResources> ExchangePeerInfo(const Origin& origin, Control& control,
                                        LocalResources local_resources);

/// Returns true if ranks are on several hosts and one has not read its devices yet. Pure.
bool HasUnreadDevices(const std::vector<PeerInfo>& peer_infos);

/// Returns the local resources unchanged if every rank knows the relevant devices. Otherwise the
/// rank reads its devices now and exchanges them with the others. Errors  as DiscoverLocal,
/// OpenDataListener and ExchangePeerInfo
Result<LocalResources> WithDevices(const Origin& origin, Control& control,
                                   LocalResources local_resources);

}  // namespace ringlet::comm
