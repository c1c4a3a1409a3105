#include "comm/establish/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/settings/setting_table.hpp"
#include "base/value/digest.hpp"
#include "bootstrap/root.hpp"
#include "comm/establish/root.hpp"
#include "comm/machine/init_lines.hpp"
#include "os/fs/shm.hpp"
#include "os/fs/write_file.hpp"
#include "os/process/random.hpp"
#include "topology/graph/port_rules.hpp"
#include "transport/wireup/transports.hpp"

namespace ringlet::comm {
namespace {

std::chrono::milliseconds OperationTimeout(const Process& process, const Config& config) {
  return config.timeout.value_or(process.settings().timeout);
}

// Returns the rank's device. If two ranks of the host have the same device, devices do not identify
// the ranks, so this returns the rank's place on the host.
std::uint32_t DeviceOf(Rank rank, const PeerTable& peer_table) {
  const PeerInfo& mine = peer_table.peer_infos[Index(rank)];
  if (mine.names_device) return mine.device;
  std::set<std::uint32_t> told;
  bool twice = false;
  for (std::uint32_t other = 0; other < peer_table.peer_infos.size(); ++other)
    if (SameHost(peer_table, Index(rank), other))
      twice = !told.insert(peer_table.peer_infos[other].device).second || twice;
  return twice ? PlaceOnHost(rank, peer_table) : mine.device;
}

std::vector<std::uint32_t> RanksOfHosts(const PeerTable& peer_table) {
  std::vector<std::uint32_t> ranks(peer_table.hosts.size());
  for (const topology::RankPlace& place : peer_table.places) ++ranks[place.host];
  return ranks;
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
  if (config.size > 1) WarnOfLoopback(*process, invitation.roots.front());
  RINGLET_TRY_ASSIGN(os::Listener listener, os::Listen(invitation.roots.front()));
  transport::ListenerSet endpoint;
  endpoint.listeners.push_back(std::move(listener));
  return HostRoot(process, invitation, std::move(endpoint));
}

Result<std::vector<Invitation>> ReadIds(Process& process, const Config& config) {
  std::vector<Invitation> invitations;
  RINGLET_TRY_ASSIGN(Invitation first, rendezvous::Decode(config.id));
  if (first.parent_size > 0 && !config.grows && config.rank < first.parent_size)
    return Error{Code::kInvalidArgument,
                 fmt::format("rank {} is one of the {} ranks of the communicator that this unique "
                             "id grows: these call grow on it, and new ranks start at {}",
                             config.rank, first.parent_size, first.parent_size)};
  invitations.push_back(std::move(first));
  if (config.more_ids.size() >= config.size)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} unique ids for {} ranks: each root needs a rank to serve",
                             config.more_ids.size() + 1, config.size)};
  if (!process.settings().comm_id.empty()) return invitations;  // one root, at its fixed address
  for (const UniqueId& id : config.more_ids) {
    RINGLET_TRY_ASSIGN(Invitation more, rendezvous::Decode(id));
    invitations.push_back(std::move(more));
  }
  return invitations;
}

namespace {

// A rank in its root's process calls it over a UNIX socket, which saves a TCP connection.
std::vector<Address> AddressesOfRoot(const Process& process, const Invitation& invitation) {
  const ServiceKey root{invitation.credentials.magic, ServiceKey::Kind::kRoot};
  if (auto here = process.services().endpoints().UnixSocketOf(root)) return {*std::move(here)};
  return invitation.roots;
}

}  // namespace

Result<bootstrap::MemberConfig> MemberConfigOf(const Process& process, const Config& config,
                                               const std::vector<Invitation>& invitations,
                                               const Listeners& listeners,
                                               const PeerInfo& peer_info) {
  const Settings& settings = process.settings();
  bootstrap::MemberConfig member;
  for (const Invitation& invitation : invitations)
    member.roots.push_back({.credentials = invitation.credentials,
                            .addresses = AddressesOfRoot(process, invitation),
                            .was_there = invitation.parent_size > 0});
  RINGLET_TRY_ASSIGN(member.nonce_seed, os::SecureRandom());
  member.rank = Rank{config.rank};
  member.size = config.size;
  member.member_address.addresses = listeners.control.tcp;
  if (member.member_address.addresses.size() > bootstrap::kAddressesMax)
    member.member_address.addresses.resize(bootstrap::kAddressesMax);
  member.member_address.host = process.host().name.substr(0, bootstrap::kHostBytesMax);
  member.member_address.pid = process.host().pid;
  member.member_address.peer_info = Encode(peer_info);
  member.shape = settings.bootstrap == BootstrapShape::kRing ? bootstrap::Shape::kRing
                                                             : bootstrap::Shape::kTree;
  member.arity = static_cast<std::uint16_t>(settings.tree_arity);
  member.node_leader = listeners.node_leader;
  member.speaks = listeners.speaks;
  member.timeout = InitTimeout(process, config);
  member.handshake_timeout = settings.handshake_timeout;
  member.silence_max = settings.silence_max;
  member.lines.encrypt = settings.encrypt;
  member.half_open_max = process.facts().HalfOpenMax(member.half_open_max);
  member.is_stopped = process.facts().is_stopped();
  return member;
}

Result<std::unique_ptr<Control>> Join(const std::shared_ptr<Process>& process, const Config& config,
                                      const std::vector<Invitation>& invitations,
                                      const LocalHost& local_host, Listeners& listeners,
                                      const HostMemoryDraft& draft, const std::stop_token& abort) {
  RINGLET_TRY_ASSIGN(
      auto member, MemberConfigOf(*process, config, invitations, listeners,
                                  PeerInfoOf(*process, config, local_host, listeners.data, draft)));
  return Control::Join(process,
                       {.member = std::move(member),
                        .listeners = std::move(listeners.control.listeners),
                        .entrance = std::move(listeners.control.entrance),
                        .operation_timeout = InitTimeout(*process, config)},
                       abort);
}

Origin ChildOf(const Origin& parent, const Control& control) {
  Origin child = parent;
  child.config.rank = Index(control.rank());
  child.config.size = control.roster().size();
  const Credentials& base =
      control.reformed() && parent.lineage ? *parent.lineage : parent.credentials;
  child.lineage = control.reformed() ? std::optional(base) : std::nullopt;
  // Derived anew, so that a link of the parent cannot be mistaken for one of the child.
  Writer id;
  id.U64(control.id());
  child.credentials.secret = KeyedHash(base.secret, {AsView("child of a communicator"), id.view()});
  child.credentials.magic = Digest().Add(base.magic).Add(control.id()).value();
  return child;
}

Result<Planned> PlanMachine(const Origin& origin, const PeerTable& peer_table) {
  Process& process = *origin.process;
  TunerPlugin* const plugin = process.tuner();
  Planned planned;
  const auto begin = [&](const std::vector<std::uint32_t>& nodes) {
    const auto [least, most] = std::ranges::minmax(nodes);
    planned.tuner = TunerSession::Begin(*plugin,
                                        {.name = origin.credentials.magic,
                                         .ranks = origin.config.size,
                                         .nodes = static_cast<std::uint32_t>(nodes.size()),
                                         .node_ranks_min = least,
                                         .node_ranks_max = most},
                                        plan::kNcclConstants);
    return planned.tuner ? planned.tuner->constants() : plan::kNcclConstants;
  };
  if (process.settings().machine.empty()) {
    if (plugin) begin(RanksOfHosts(peer_table));
    return planned;
  }
  RINGLET_TRY_ASSIGN(const topology::PortRules ports, topology::ReadPortRules(process.settings()));
  for (const std::string& note : ports.notes) process.logger().WarnOnce(note);
  const auto tune = [&](const plan::GpuPlan& gpus) { return begin(NodeSizes(gpus)); };
  RINGLET_TRY_ASSIGN(planned.machine,
                     GpuMachine::Plan(process.settings(), peer_table, process.facts().graphs,
                                      plugin ? GpuMachine::Tune(tune) : nullptr));
  return planned;
}

void DumpGraphs(const Origin& origin, const plan::ChannelPlan& plan, const GpuMachine* machine) {
  const Settings& settings = origin.process->settings();
  const Rank rank{origin.config.rank};
  if (settings.graph_dump_file.empty() || Index(rank) != settings.graph_dump_file_rank) return;
  const Status written = os::WriteFile(
      settings.graph_dump_file, machine ? machine->GraphsOf(rank) : plan::GraphsOf(plan, rank));
  if (!written.ok())
    origin.process->logger().WarnOnce(fmt::format("{}: the channels are not dumped: {}",
                                                  VariableOf(settings, "GRAPH_DUMP_FILE"),
                                                  written.error().message));
}

Status Report(const Origin& origin, Control& control, const Timeline& timeline) {
  Process& process = *origin.process;
  process.logger().Log(LogLevel::kInfo, Subsystem::kInit, origin.config.device,
                       timeline.Line(origin.config.rank, origin.config.size));
  control.SetRecovery(timeline.recovery());
  const std::string& file = process.settings().trace;
  if (file.empty()) return Ok();
  RINGLET_TRY_ASSIGN(const bootstrap::Table all, control.AllGather(Encode(timeline)));
  if (origin.config.rank != 0) return Ok();
  std::vector<RankTimeline> timelines;
  for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
    RINGLET_TRY_ASSIGN(Timeline its, DecodeTimeline(all.At(Rank{rank})));
    timelines.push_back({control.roster().DescribeRank(Rank{rank}), std::move(its)});
  }
  // A failure to write the trace does not fail the communicator.
  if (const Status written = os::WriteFile(file, TraceOf(timelines)); !written.ok())
    process.logger().Log(LogLevel::kWarn, Subsystem::kInit, origin.config.device,
                         VariableOf(process.settings(), "TRACE") + ": " + written.error().message);
  return Ok();
}

void WarnOfSharedFiles(const Origin& origin, const PeerTable& peer_table) {
  Process& process = *origin.process;
  const Settings& settings = process.settings();
  const bool shares = !settings.shm_disable && transport::SharesMemory(settings.links);
  for (std::uint32_t rank = 0; shares && rank < origin.config.size; ++rank) {
    if (rank == origin.config.rank || !SameHost(peer_table, origin.config.rank, rank)) continue;
    const std::string why = os::Shm::WhyInFiles();
    if (!why.empty())
      process.logger().WarnOnce(
          why +
          "; ranks of this host share memory in files without a name in /dev/shm "
          "instead (NCCL_SHM_DISABLE=1: they do not share memory)");
    return;
  }
}

std::unique_ptr<Communicator> Finish(Description description, std::unique_ptr<Control> control,
                                     DataPlane data, Planned planned) {
  auto& [origin, peer_table, plan] = description;
  const std::shared_ptr<const GpuMachine>& machine = planned.machine;
  WarnOfSharedFiles(origin, peer_table);
  origin.config.device = DeviceOf(Rank{origin.config.rank}, peer_table);
  const Config& config = origin.config;
  const auto timeout = OperationTimeout(*origin.process, config);
  control->set_operation_timeout(timeout);
  os::Logger& logger = origin.process->logger();
  const Rank rank{config.rank};
  if (machine && logger.IsWanted(LogLevel::kInfo, Subsystem::kInit))
    for (const InitLine& line : InitLines(*machine, peer_table, rank, origin.credentials.magic))
      logger.Log(LogLevel::kInfo, line.subsystem, config.device, line.text);
  const auto& gpu = peer_table.peer_infos[config.rank].gpu;
  const std::string place = machine && gpu ? fmt::format("cudaDev {} nvmlDev {} busId {:x} ",
                                                         config.cuda_device.value_or(config.device),
                                                         config.device, gpu->value)
                                           : "";
  logger.Log(LogLevel::kInfo, Subsystem::kInit, config.device,
             fmt::format("rank {} nranks {} {}commId {:016x} hosts {} links {} - Init COMPLETE",
                         config.rank, config.size, place, origin.credentials.magic,
                         peer_table.hosts.size(),
                         data.memory.arena ? "host memory" : data.links->Summary()));
  auto communicator = std::make_unique<Communicator>(std::move(description), std::move(control),
                                                     std::move(data.links), std::move(data.memory),
                                                     machine, timeout);
  communicator->SetTuner(std::move(planned.tuner));
  return communicator;
}

}  // namespace ringlet::comm
