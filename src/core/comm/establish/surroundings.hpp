// The facts about itself and the others that a rank has before all plan together.
#pragma once
#include <vector>

#include "comm/backend/host_memory.hpp"
#include "comm/control/control.hpp"
#include "comm/establish/local_host.hpp"
#include "comm/peers/peer_info.hpp"
#include "comm/process/config.hpp"
#include "transport/wireup/listener_set.hpp"

namespace ringlet::comm {

struct Surroundings {
  LocalHost local_host;
  transport::ListenerSet listeners;  ///< of the data plane
  HostMemoryDraft memory;
  std::vector<PeerInfo> peer_infos;  ///< of all ranks
};

PeerInfo PeerInfoOf(const Process& process, const Config& config, const LocalHost& local_host,
                    const transport::ListenerSet& listeners, const HostMemoryDraft& draft);

/// The surroundings with the peer infos of all ranks of `control`, which has no fresh ones.
/// Errors  as Control::AllGather
Result<Surroundings> ExchangePeerInfo(const Origin& origin, Control& control,
                                      Surroundings surroundings);

/// Whether ranks on several hosts must look at their devices now, since one has not yet. Pure.
bool LackDevices(const std::vector<PeerInfo>& peer_infos);

/// The same surroundings where every rank knows the devices that matter. Otherwise the rank looks
/// at its devices now, and exchanges what it finds with the others. Errors  as DiscoverLocal,
/// OpenDataListener and ExchangePeerInfo
Result<Surroundings> WithDevices(const Origin& origin, Control& control, Surroundings surroundings);

}  // namespace ringlet::comm
