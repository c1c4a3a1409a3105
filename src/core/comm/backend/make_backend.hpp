// Chooses the backend of a communicator.
#pragma once
#include <memory>

#include "comm/backend/backend.hpp"
#include "comm/backend/host_memory.hpp"
#include "comm/backend/links_on_demand.hpp"
#include "comm/process/config.hpp"
#include "plan/channels/channel_plan.hpp"

namespace ringlet::comm {

/// All parts but the plan outlive the backend.
struct BackendParts {
  const Origin& origin;
  const PeerTable& peer_table;
  const plan::ChannelPlan& plan;
  HostMemory& host_memory;
  LinksOnDemand& links;
  /// The machine that the ranks emulate. Null if they are in CPU memory.
  std::shared_ptr<const GpuMachine> machine = nullptr;
  /// True if a waiting rank has its own core.
  bool spins = false;
};

std::unique_ptr<Backend> MakeBackend(BackendParts parts);

}  // namespace ringlet::comm
