// The stages of Establish that touch the world or the caller's arguments, one function each.
#pragma once
#include <memory>
#include <stop_token>

#include "comm/census.hpp"
#include "comm/communicator.hpp"
#include "comm/control.hpp"
#include "comm/establish.hpp"
#include "plan/channel_plan.hpp"
#include "rendezvous/invitation.hpp"
#include "transport/endpoint.hpp"
#include "transport/links.hpp"

namespace ringlet::comm {

using rendezvous::Invitation;

/// Errors  kInvalidArgument  a size of 0 or too large, a rank that is not below it.
Status CheckArguments(const Config& config);

/// Rank 0 of an id with a fixed address starts the root there; for all others, nothing.
/// Errors  kSystem  the address is taken or not of this host.
Status OpenFixedRoot(const std::shared_ptr<Process>& process, const Invitation& invitation,
                     const Config& config);

/// What this rank has around it.
struct Here {
  topology::HostView view;
  std::uint32_t numa = 0;  ///< id of the NUMA node that the calling thread belongs to
};
Result<Here> LookAround(Process& process, const Config& config);

/// Where the other ranks will call. Opened before check-in, so that nobody dials too early.
struct Doors {
  transport::Endpoint control;
  transport::Endpoint data;
};
Result<Doors> OpenDoors(Process& process);

Result<std::unique_ptr<Control>> Join(const std::shared_ptr<Process>& process, const Config& config,
                                      const Invitation& invitation, const Here& here, Doors& doors,
                                      const std::stop_token& abort);

/// Links to every rank that `plan` makes a neighbour of this one.
Result<std::unique_ptr<transport::Links>> Connect(Process& process, const Config& config,
                                                  const Invitation& invitation,
                                                  const plan::ChannelPlan& plan,
                                                  const Census& census, Control& control,
                                                  Doors& doors, const std::stop_token& abort);

std::unique_ptr<Communicator> Settle(const std::shared_ptr<Process>& process, const Config& config,
                                     const Invitation& invitation, std::unique_ptr<Control> control,
                                     Census census, plan::ChannelPlan plan,
                                     std::unique_ptr<transport::Links> links);

}  // namespace ringlet::comm
