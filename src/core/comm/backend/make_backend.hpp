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
  /// The machine that the ranks play; null: they are in CPU memory.
  std::shared_ptr<const GpuMachine> machine = nullptr;
  /// A rank that waits has a core of its own.
  bool spins = false;
};

std::unique_ptr<Backend> MakeBackend(BackendParts parts);

}  // namespace ringlet::comm
