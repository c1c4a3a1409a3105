#include "comm/stages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/agreement.hpp"
#include "bootstrap/root.hpp"
#include "comm/root.hpp"
#include "discovery/fill.hpp"
#include "discovery/nvml.hpp"
#include "discovery/placement.hpp"
#include "discovery/scan.hpp"
#include "discovery/topology_file.hpp"
#include "os/random.hpp"
#include "os/write_file.hpp"
#include "topology/xml_writer.hpp"
#include "transport/connect.hpp"

namespace ringlet::comm {
namespace {

std::chrono::milliseconds InitTimeout(const Process& process, const Config& config) {
  return config.init_timeout.value_or(process.settings().init_timeout);
}

std::chrono::milliseconds OperationTimeout(const Process& process, const Config& config) {
  return config.timeout.value_or(process.settings().timeout);
}

Result<transport::Endpoint> OpenEndpoint(Process& process, bool unix_listener) {
  RINGLET_TRY_ASSIGN(auto addresses, process.ReachableAddresses());
  RINGLET_TRY_ASSIGN(const Secret seed, os::SecureRandom());
  return transport::Endpoint::Open(
      {.interfaces = std::move(addresses), .seed = seed, .unix_listener = unix_listener});
}

Card CardOf(const Process& process, const Config& config, const Here& here, const Doors& doors) {
  return Card{.host_hash = process.host_hash(),
              .process_hash = process.process_hash(),
              .network_namespace = process.host().net_namespace,
              .host_view_digest = here.view.digest(),
              .settings_digest = AgreementDigest(process.settings()),
              .device = config.device,
              .numa = here.numa,
              .tcp = doors.data.tcp,
              .unix_socket = doors.data.unix_socket};
}

transport::Neighbour NeighbourOf(Rank rank, const Census& census, const bootstrap::Roster& roster) {
  const Card& card = census.cards[Index(rank)];
  const auto introduction = roster.At(rank);
  return {.rank = rank,
          .host = introduction.ok() ? introduction->host : "",
          .host_hash = card.host_hash,
          .network_namespace = card.network_namespace,
          .process_hash = card.process_hash,
          .tcp = card.tcp,
          .unix_socket = card.unix_socket};
}

// Those next to this rank on any channel, each once.
std::vector<Rank> NeighboursIn(const plan::ChannelPlan& plan, Rank self) {
  std::vector<Rank> neighbours;
  for (const plan::Channel& channel : plan.channels) {
    const std::vector<Rank>& order = channel.ranks;
    const auto at = static_cast<std::size_t>(std::ranges::find(order, self) - order.begin());
    neighbours.push_back(order[(at + 1) % order.size()]);
    neighbours.push_back(order[(at + order.size() - 1) % order.size()]);
  }
  std::ranges::sort(neighbours);
  neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  std::erase(neighbours, self);
  return neighbours;
}

// A spinning rank takes the core that another needs: only where each has one.
std::chrono::nanoseconds SpinFor(const Census& census, std::uint32_t cores) {
  return census.ranks_on_host <= cores ? std::chrono::microseconds(50)
                                       : std::chrono::nanoseconds(0);
}

transport::Choice ChoiceOf(LinkChoice links) {
  switch (links) {
    case LinkChoice::kAuto: return transport::Choice::kAuto;
    case LinkChoice::kInproc: return transport::Choice::kInproc;
    case LinkChoice::kShm: return transport::Choice::kShm;
    case LinkChoice::kTcp: return transport::Choice::kTcp;
  }
  return transport::Choice::kAuto;
}

// Before anything can fail that somebody may want to look into. A dump is no reason to fail.
void DumpTopology(Process& process, const Config& config, const topology::HostView& view) {
  const Settings& settings = process.settings();
  if (settings.topo_dump_file.empty() || config.rank != settings.topo_dump_file_rank) return;
  const Status written = os::WriteFile(settings.topo_dump_file, ToXml(view));
  if (!written.ok()) process.WarnOnce("the topology is not dumped: " + written.error().message);
}

}  // namespace

Status CheckArguments(const Config& config) {
  if (config.size == 0 || config.size > bootstrap::kSizeMax)
    return Error{Code::kInvalidArgument, fmt::format("world size {} is not between 1 and {}",
                                                     config.size, bootstrap::kSizeMax)};
  if (config.rank >= config.size)
    return Error{Code::kInvalidArgument,
                 fmt::format("rank {} is not below the world size {}", config.rank, config.size)};
  return Ok();
}

Status OpenFixedRoot(const std::shared_ptr<Process>& process, const Invitation& invitation,
                     const Config& config) {
  if (!invitation.fixed_address || config.rank != 0) return Ok();
  RINGLET_TRY_ASSIGN(os::Listener listener, os::Listen(invitation.roots.front()));
  std::vector<os::Listener> listeners;
  listeners.push_back(std::move(listener));
  return HostRoot(process, invitation.credentials, std::move(listeners));
}

Result<Here> LookAround(Process& process, const Config& config) {
  const Settings& settings = process.settings();
  discovery::Nvml driver;
  const discovery::ScanOptions options{.host_name = process.host().name,
                                       .identity = process.host_hash(),
                                       .interfaces = settings.socket_ifname,
                                       .gpus = &driver};
  RINGLET_TRY_ASSIGN(discovery::HostScan scan, discovery::Scan(process.files(), options));
  for (const std::string& missing : scan.missing)
    process.logger().Log(LogLevel::kInfo, Subsystem::kGraph, config.device, missing);
  RINGLET_TRY_ASSIGN(const discovery::TopologyFile file,
                     discovery::ReadTopologyFile(process.files(), settings.topo_file));
  for (const std::string& finding : file.findings) process.WarnOnce(finding);
  if (file.view) {
    RINGLET_TRY_ASSIGN(scan.view, discovery::Fill(*file.view, scan.view));
  }
  // Where it may run is not always told; then all nodes are as good.
  const auto allowed = discovery::AllowedCpus(process.files());
  const bool bound = allowed.ok() && settings.ignore_cpu_affinity == 0;
  const std::uint32_t numa = discovery::NumaOf(scan.view, bound ? *allowed : topology::CpuSet(),
                                               settings.local_rank.value_or(config.device));
  DumpTopology(process, config, scan.view);
  return Here{std::move(scan.view), numa};
}

Result<Doors> OpenDoors(Process& process) {
  Doors doors;
  RINGLET_TRY_ASSIGN(doors.control, OpenEndpoint(process, false));
  RINGLET_TRY_ASSIGN(doors.data, OpenEndpoint(process, true));
  return doors;
}

Result<std::unique_ptr<Control>> Join(const std::shared_ptr<Process>& process, const Config& config,
                                      const Invitation& invitation, const Here& here, Doors& doors,
                                      const std::stop_token& abort) {
  const Settings& settings = process->settings();
  bootstrap::MemberConfig member;
  member.credentials = invitation.credentials;
  RINGLET_TRY_ASSIGN(member.nonce_seed, os::SecureRandom());
  member.rank = Rank{config.rank};
  member.size = config.size;
  member.roots = invitation.roots;
  member.introduction.addresses = doors.control.tcp;
  if (member.introduction.addresses.size() > bootstrap::kAddressesMax)
    member.introduction.addresses.resize(bootstrap::kAddressesMax);
  member.introduction.host = process->host().name.substr(0, bootstrap::kHostBytesMax);
  member.introduction.pid = process->host().pid;
  member.introduction.card = Encode(CardOf(*process, config, here, doors));
  member.shape = settings.bootstrap == BootstrapShape::kRing ? bootstrap::Shape::kRing
                                                             : bootstrap::Shape::kTree;
  member.arity = static_cast<std::uint16_t>(settings.tree_arity);
  member.timeout = InitTimeout(*process, config);
  member.handshake_timeout = settings.handshake_timeout;
  return Control::Join(process,
                       {.member = std::move(member),
                        .listeners = std::move(doors.control.listeners),
                        .operation_timeout = InitTimeout(*process, config)},
                       abort);
}

Result<std::unique_ptr<transport::Links>> Connect(Process& process, const Config& config,
                                                  const Invitation& invitation,
                                                  const plan::ChannelPlan& plan,
                                                  const Census& census, Control& control,
                                                  Doors& doors, const std::stop_token& abort) {
  transport::ConnectRequest request;
  request.credentials = invitation.credentials;
  RINGLET_TRY_ASSIGN(request.nonce_seed, os::SecureRandom());
  request.self = NeighbourOf(Rank{config.rank}, census, control.roster());
  for (const Rank rank : NeighboursIn(plan, Rank{config.rank}))
    request.peers.push_back(NeighbourOf(rank, census, control.roster()));
  request.deadline = os::SocketDriver::Now() + InitTimeout(process, config);
  request.options.choice = ChoiceOf(process.settings().links);
  request.options.pipe_bytes = process.settings().pipe_bytes;
  request.options.waiter.spin = SpinFor(census, process.usable_cores());

  // Who waits for a peer that has died must hear of it, as must who is told to abort.
  std::stop_source stop;
  const std::stop_callback told(abort, [&] { stop.request_stop(); });
  control.OnFailure([&] { stop.request_stop(); });
  auto links = transport::Connect(std::move(request), std::move(doors.data),
                                  {.driver = process.driver(),
                                   .inproc = process.inproc(),
                                   .abort = stop.get_token(),
                                   .note = [&process](const Note& note) {
                                     process.logger().Log(note.level, Subsystem::kNet, std::nullopt,
                                                          note.text);
                                   }});
  control.OnFailure(nullptr);
  if (!links.ok())
    if (auto better = control.AwaitFailure(
            std::chrono::milliseconds(links.error().code == Code::kAborted ? 1000 : 200)))
      return *better;
  return links;
}

std::unique_ptr<Communicator> Settle(const std::shared_ptr<Process>& process, const Config& config,
                                     const Invitation& invitation, std::unique_ptr<Control> control,
                                     Census census, plan::ChannelPlan plan,
                                     std::unique_ptr<transport::Links> links) {
  const auto timeout = OperationTimeout(*process, config);
  control->set_operation_timeout(timeout);
  process->logger().Log(
      LogLevel::kInfo, Subsystem::kInit, config.device,
      fmt::format("rank {} nranks {} commId {:016x} hosts {} links {} - Init COMPLETE", config.rank,
                  config.size, invitation.credentials.magic, census.hosts.size(),
                  links->Summary()));
  const Identity identity{Rank{config.rank}, config.size, config.device,
                          invitation.credentials.magic};
  return std::make_unique<Communicator>(identity, process, std::move(control), std::move(census),
                                        std::move(plan), std::move(links), timeout);
}

}  // namespace ringlet::comm
