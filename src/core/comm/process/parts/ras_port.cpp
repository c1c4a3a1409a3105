#include "comm/process/parts/ras_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "comm/process/parts/diagnostics.hpp"
#include "comm/process/parts/process_states.hpp"
#include "os/clock.hpp"
#include "os/net/listener.hpp"
#include "os/net/local_ask.hpp"
#include "ringlet/compat/nccl.h"
#include "watch/questions.hpp"
#include "watch/ras/ras_server.hpp"
#include "watch/server.hpp"

namespace ringlet::comm {
namespace {

// Exceeds the number of ranks that a job has on one host.
constexpr std::size_t kNeighboursMax = 512;
// Time for the last bytes to a client to leave.
constexpr std::chrono::seconds kFarewell(5);

// A responsive process answers at once. Shorter than a look, so that a silent process does not hold
// back the answers of others.
constexpr std::chrono::seconds kNeighboursTimeout(1);

using Parts = std::vector<watch::CommunicatorStatus>;

/// Returns the processes of this host that belong to these communicators.
std::set<std::uint32_t> NeighboursIn(const Parts& communicators, std::string_view host) {
  std::set<std::uint32_t> pids;
  for (const watch::CommunicatorStatus& one : communicators)
    for (const watch::RankState& peer : one.peers)
      if (peer.host == host) pids.insert(peer.pid);
  return pids;
}

/// Returns the status sockets of these processes, except that of this process.
std::vector<Address> SocketsOf(const std::set<std::uint32_t>& pids, const ProcessFacts& process) {
  std::vector<Address> sockets;
  const auto names = os::AbstractNames(process.files);
  if (!names.ok()) return sockets;
  for (const std::string& name : *names) {
    const auto pid = watch::Server::PidIn(name);
    if (pid && *pid != process.host.pid && pids.contains(*pid) && sockets.size() < kNeighboursMax)
      sockets.push_back(Address::Unix(name));
  }
  return sockets;
}

}  // namespace

void RasPort::Open() {
  process_.driver().Post([this] {
    if (!listens_) OpenNow();
  });
}

// A new server replaces one that no longer listens, because clients of the old one may still read.
void RasPort::OpenNow() {
  auto listener = os::ListenShared(at_);
  if (!listener.ok())
    return process_.logger().WarnOnce("no RAS client is answered: " + listener.error().message);
  if (id_ != 0) process_.driver().Remove(id_, kFarewell);
  server_ = std::make_shared<watch::RasServer>(watch::RasServer::Owner{
      .nccl_version = fmt::format("{}.{}.{}", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH),
      .look = [this] { Look(); },
      .give_up = [this] { return Jobs(); },
      .timestamp = [] { return os::WallTimeText(); }});
  os::Hosted hosted{.machine = server_, .listeners = {}};
  hosted.listeners.push_back(std::move(listener).value());
  id_ = process_.driver().Add(std::move(hosted));
  listens_ = true;
}

// A process without a communicator leaves the port to those that have one.
void RasPort::Look() {
  const auto watched = process_.watched();
  if (watched.empty() && std::exchange(listens_, false)) process_.driver().CloseListeners(id_);
  const std::uint64_t look = ++looks_;
  pending_ = 2;
  neighbours_.clear();
  own_ = std::make_shared<StatusGathering>(std::max<std::size_t>(watched.size(), 1), [this, look] {
    process_.driver().Post([this, look] { OnPart(look); });
  });
  for (std::size_t part = 0; part < watched.size(); ++part)
    watched[part]->Look(own_, part, /*asks_peers=*/true);
  if (watched.empty()) own_->Done();
  process_.driver().Post([this, look] { QueryLocalProcesses(look); });
}

// Queries processes of this host for communicators that this process does not belong to, and for
// failed ones, where the control network is not queried any more. Runs when the ranks on this
// thread have named their peers.
void RasPort::QueryLocalProcesses(std::uint64_t look) {
  const auto pids = NeighboursIn(own_->Parts(), process_.facts().host.name);
  const auto questions = std::make_shared<watch::Questions>(SocketsOf(pids, process_.facts()),
                                                            "status\n", kNeighboursTimeout);
  const auto id = std::make_shared<os::SocketDriver::Id>(0);
  *id = process_.driver().Add({.machine = questions,
                               .listeners = {},
                               .own_user_only = true,
                               .changed = [this, id, look, raw = questions.get()] {
                                 if (!raw->Finished()) return;
                                 const std::vector<std::string> answers = raw->TakeAnswers();
                                 process_.driver().Remove(*id);
                                 if (look != looks_) return;
                                 for (const std::string& answer : answers)
                                   if (auto status = watch::ParseProcessStatus(answer); status.ok())
                                     neighbours_.push_back(std::move(status).value());
                                 OnPart(look);
                               }});
}

void RasPort::OnPart(std::uint64_t look) {
  if (look != looks_ || --pending_ > 0) return;
  server_->OnLook(Jobs(), os::SocketDriver::Now());
  process_.driver().RequestTick(id_);
}

std::vector<watch::JobStatus> RasPort::Jobs() const {
  std::vector<watch::ProcessStatus> statuses = neighbours_;
  statuses.push_back({.communicators = own_->Parts()});
  std::erase_if(statuses.back().communicators,
                [](const auto& one) { return one.communicator.empty(); });
  AddProcessStates(process_.facts().files, process_.facts().host.name, statuses);
  return watch::JobsOf(statuses);
}

}  // namespace ringlet::comm
