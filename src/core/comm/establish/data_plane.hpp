// The transports of a communicator's data: links, and the memory of hosts.
#pragma once
#include <memory>
#include <stop_token>

#include "comm/backend/host_memory.hpp"
#include "comm/control/control.hpp"
#include "comm/establish/local_resources.hpp"
#include "comm/establish/timeline.hpp"
#include "comm/peers/peer_table.hpp"
#include "comm/process/config.hpp"
#include "plan/channels/channel_plan.hpp"
#include "transport/wireup/links.hpp"

namespace ringlet::comm {

/// Makes links to every rank that `plan` makes a neighbour of this one, except to ranks that share
/// this host's memory.
Result<std::unique_ptr<transport::Links>> Connect(const Origin& origin,
                                                  const plan::ChannelPlan& plan,
                                                  const PeerTable& peer_table, Control& control,
                                                  transport::ListenerSet listeners,
                                                  const std::stop_token& abort);

struct DataPlane {
  std::unique_ptr<transport::Links> links;
  HostMemoryParts memory;
};

/// Joins the ranks of the control network by all transports that they will use. Collective.
/// Errors  kProtocol  the ranks have different plans; and as Connect and AgreeOnHostMemory
Result<DataPlane> JoinDataPlane(const Origin& origin, const plan::ChannelPlan& plan,
                                const PeerTable& peer_table, Control& control, LocalResources own,
                                Timeline& timeline, const std::stop_token& abort);

}  // namespace ringlet::comm
