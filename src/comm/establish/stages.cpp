#include "comm/establish/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/settings/agreement.hpp"
#include "base/settings/setting_table.hpp"
#include "base/value/digest.hpp"
#include "bootstrap/root.hpp"
#include "comm/establish/near_nics.hpp"
#include "comm/establish/root.hpp"
#include "comm/machine/init_lines.hpp"
#include "discovery/fill.hpp"
#include "discovery/placement.hpp"
#include "discovery/scan.hpp"
#include "discovery/topology_file.hpp"
#include "os/fs/shm.hpp"
#include "os/fs/write_file.hpp"
#include "os/process/limits.hpp"
#include "os/process/random.hpp"
#include "os/process/thread.hpp"
#include "topology/graph/port_rules.hpp"
#include "topology/view/host_shape.hpp"
#include "topology/xml/xml_writer.hpp"
#include "transport/wireup/connect.hpp"

namespace ringlet::comm {
namespace {

std::chrono::milliseconds OperationTimeout(const Process& process, const Config& config) {
  return config.timeout.value_or(process.settings().timeout);
}

Result<transport::ListenerSet> OpenEndpoint(Process& process, NicChoice nics,
                                            const ServiceKey& key) {
  RINGLET_TRY_ASSIGN(const Secret seed, os::SecureRandom());
  return process.endpoints().Open({.interfaces = std::move(nics.addresses),
                                   .preferred = nics.preferred,
                                   .seed = seed,
                                   .unix_listener = key.kind == ServiceKey::Kind::kData},
                                  key);
}

PeerInfo PeerInfoOf(const Process& process, const Config& config, const LocalHost& local_host,
                    const transport::ListenerSet& listeners, const HostMemoryDraft& draft) {
  PeerInfo peer_info{.host_hash = process.host_hash(),
                     .process_hash = process.process_hash(),
                     .network_namespace = process.NetNamespaceOf(listeners),
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

// The device that the rank was given, unless another rank of its host was given the same: then the
// ranks are not told apart, and they are counted.
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

// Before anything can fail whose cause may be of interest. A dump is no reason to fail.
void DumpTopology(Process& process, const Config& config, const topology::HostView& view) {
  const Settings& settings = process.settings();
  if (settings.topo_dump_file.empty() || config.rank != settings.topo_dump_file_rank) return;
  const Status written = os::WriteFile(settings.topo_dump_file, ToXml(view));
  if (!written.ok())
    process.WarnOnce(fmt::format("{}: the topology is not dumped: {}",
                                 VariableOf(settings, "TOPO_DUMP_FILE"), written.error().message));
}

// The processors that the caller may run on: from the system call, which opens no file, where its
// mask can hold them.
Result<topology::CpuSet> AllowedCpus(const Process& process) {
  const topology::CpuSet usable = topology::CpuSet::OfCpus(os::UsableCpus());
  return usable.empty() ? discovery::AllowedCpus(process.files()) : usable;
}

// The place of the rank on its host: at the device that its caller named, or at the cores of the
// caller.
LocalHost Settled(const Process& process, const Config& config, topology::HostView view) {
  const Settings& settings = process.settings();
  // The allowed cores are not always told; then all nodes are as good.
  const auto told = AllowedCpus(process);
  const bool bound = told.ok() && settings.ignore_cpu_affinity == 0;
  const topology::CpuSet allowed = bound ? *told : topology::CpuSet();
  LocalHost local_host{.view = std::move(view)};
  if (told.ok()) local_host.allowed = *told;
  std::optional<std::uint32_t> numa;
  if (config.names_device) {
    local_host.gpu = discovery::FindGpu(local_host.view, config.device);
    if (local_host.gpu) numa = discovery::NumaOfGpu(local_host.view, *local_host.gpu, allowed);
  }
  local_host.numa = numa ? *numa
                         : discovery::NumaOf(local_host.view, allowed,
                                             settings.local_rank.value_or(config.device));
  local_host.cpus = discovery::CpusNear(local_host.view, local_host.numa, allowed);
  return local_host;
}

// As far as one rank can tell before it knows the others.
bool NeedsNoDevices(const Settings& settings, const Config& config) {
  return config.expects_one_host && !config.names_device && settings.topo_file.empty() &&
         settings.topo_dump_file.empty() && settings.graph_file.empty() &&
         settings.graph_dump_file.empty();
}

/// Each host of an emulated cluster is the whole file.
Status CheckOneHost(const topology::HostView& view, const std::string& file) {
  for (const topology::NumaNode& node : view.numa_nodes)
    if (node.host != view.numa_nodes.front().host)
      return Error{Code::kInvalidArgument,
                   fmt::format("RINGLET_MACHINE: {} holds several hosts; name the file of one, and "
                               "give the ranks of each host a RINGLET_HOSTID of their own",
                               file)};
  return Ok();
}

// The host that a file describes, in place of the one that is here.
Result<LocalHost> ReadMachine(Process& process, const Config& config) {
  auto read = discovery::ReadTopologyFile(process.files(), process.settings().machine);
  if (!read.ok())
    return Error{read.error().code,
                 VariableOf(process.settings(), "MACHINE") + ": " + read.error().message};
  discovery::TopologyFile file = *std::move(read);
  RINGLET_TRY(CheckOneHost(*file.view, process.settings().machine));
  for (const std::string& finding : file.findings) process.WarnOnce(finding);
  file.view->name = process.host().name;
  file.view->identity = process.host_hash();
  DumpTopology(process, config, *file.view);
  Config placed = config;
  if (!placed.names_device) placed.device = process.settings().local_rank.value_or(config.device);
  placed.names_device = true;
  LocalHost local_host = Settled(process, placed, std::move(*file.view));
  local_host.cpus = {};  // the processors of the file are not here
  return local_host;
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

Result<LocalHost> DiscoverLocal(Process& process, const Config& config) {
  const Settings& settings = process.settings();
  if (!settings.machine.empty()) return ReadMachine(process, config);
  if (NeedsNoDevices(settings, config)) {
    RINGLET_TRY_ASSIGN(discovery::HostScan scan, process.ScanHost(false));
    LocalHost local_host = Settled(process, config, std::move(scan.view));
    local_host.knows_devices = false;
    return local_host;
  }
  RINGLET_TRY_ASSIGN(discovery::HostScan scan, process.ScanHost(true));
  RINGLET_TRY_ASSIGN(const discovery::TopologyFile file,
                     discovery::ReadTopologyFile(process.files(), settings));
  for (const std::string& finding : file.findings) process.WarnOnce(finding);
  if (file.view) {
    RINGLET_TRY_ASSIGN(scan.view, discovery::Fill(*file.view, scan.view));
  }
  DumpTopology(process, config, scan.view);
  return Settled(process, config, std::move(scan.view));
}

Result<transport::ListenerSet> OpenDataListener(Process& process, const Credentials& credentials,
                                                const LocalHost& local_host, std::uint32_t size) {
  RINGLET_TRY_ASSIGN(const auto usable, process.ReachableInterfaces(size == 1));
  return OpenEndpoint(process, NearNics(usable, local_host.view, local_host.numa),
                      {credentials.magic, ServiceKey::Kind::kData});
}

// Known to those who hold the id only. The hash of a host is not part of it: the abstract names of
// UNIX sockets are those of a network namespace, which is what ranks must share to call each other.
Address NodeLeaderAddress(const Invitation& invitation) {
  const Secret name = KeyedHash(invitation.credentials.secret, {AsView("node leader of a host")});
  std::string text = "ringlet-";
  for (std::size_t i = 0; i < 16; ++i)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(name[i]));
  return Address::Unix(std::move(text));
}

Result<Listeners> OpenListeners(Process& process, const Invitation& invitation,
                                const Config& config, const LocalHost& local_host) {
  Listeners listeners;
  RINGLET_TRY_ASSIGN(auto addresses, process.ReachableAddresses(config.size == 1));
  const Credentials& credentials = invitation.credentials;
  RINGLET_TRY_ASSIGN(listeners.control,
                     OpenEndpoint(process, {std::move(addresses)},
                                  {credentials.magic, ServiceKey::Kind::kControl}));
  RINGLET_TRY_ASSIGN(listeners.data,
                     OpenDataListener(process, credentials, local_host, config.size));
  OpenNodeLeaderListener(process, invitation, config, listeners);
  return listeners;
}

namespace {

bool HasNodeLeaders(const Settings& settings, const Config& config) {
  return settings.node_leader && config.size > 1 && settings.bootstrap == BootstrapShape::kTree;
}

}  // namespace

// A failure is told when the rank joins, which tries it again.
void LeadHost(const Process& process, Config& config) {
  const auto invitation = rendezvous::Decode(config.id);
  if (!invitation.ok() || !HasNodeLeaders(process.settings(), config)) return;
  auto listener = os::Listen(NodeLeaderAddress(*invitation));
  if (listener.ok()) config.leads = std::make_shared<os::Listener>(*std::move(listener));
}

void OpenNodeLeaderListener(const Process& process, const Invitation& invitation,
                            const Config& config, Listeners& listeners) {
  if (!HasNodeLeaders(process.settings(), config)) return;
  // A rank that finds the address taken has a node leader; if none can be opened each rank speaks
  // for itself.
  auto listener = config.leads ? Result<os::Listener>(std::move(*config.leads))
                               : os::Listen(NodeLeaderAddress(invitation));
  listeners.speaks = listener.ok();
  if (listener.ok()) listeners.control.listeners.push_back(std::move(*listener));
  if (listeners.speaks || listener.error().os_errno == EADDRINUSE)
    listeners.node_leader = NodeLeaderAddress(invitation);
}

Result<std::vector<Invitation>> ReadIds(Process& process, const Config& config) {
  std::vector<Invitation> invitations;
  RINGLET_TRY_ASSIGN(Invitation first, rendezvous::Decode(config.id));
  if (first.parent_size > 0 && !config.grows && config.rank < first.parent_size)
    return Error{Code::kInvalidArgument,
                 fmt::format("rank {} is one of the {} ranks that this unique id grows: those call "
                             "grow on their communicator, new ones take ranks from {} up",
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

// A rank beside its root calls it over a UNIX socket: no TCP connection is made to be given up.
std::vector<Address> AddressesOfRoot(const Process& process, const Invitation& invitation) {
  const ServiceKey root{invitation.credentials.magic, ServiceKey::Kind::kRoot};
  if (auto here = process.endpoints().UnixSocketOf(root)) return {*std::move(here)};
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
  member.half_open_max = process.HalfOpenMax(member.half_open_max);
  member.is_stopped = process.is_stopped();
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

bool LackDevices(const std::vector<PeerInfo>& peer_infos) {
  const auto elsewhere = [&](const PeerInfo& one) {
    return one.host_hash != peer_infos[0].host_hash;
  };
  const auto lacks = [](const PeerInfo& one) { return !one.knows_devices; };
  return std::ranges::any_of(peer_infos, elsewhere) && std::ranges::any_of(peer_infos, lacks);
}

Origin ChildOf(const Origin& parent, const Control& control) {
  Origin child = parent;
  child.config.rank = Index(control.rank());
  child.config.size = control.roster().size();
  // Of its own, so that no link of the parent's can be taken for one of the child's.
  Writer id;
  id.U64(control.id());
  child.credentials.secret =
      KeyedHash(parent.credentials.secret, {AsView("child of a communicator"), id.view()});
  child.credentials.magic = Digest().Add(parent.credentials.magic).Add(control.id()).value();
  return child;
}

Result<std::vector<PeerInfo>> ExchangePeerInfo(const Origin& origin, Control& control,
                                               const LocalHost& local_host,
                                               const transport::ListenerSet& listeners,
                                               const HostMemoryDraft& draft) {
  RINGLET_TRY_ASSIGN(const bootstrap::Table table,
                     control.AllGather(Encode(PeerInfoOf(*origin.process, origin.config, local_host,
                                                         listeners, draft))));
  std::vector<PeerInfo> peer_infos;
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
    RINGLET_TRY_ASSIGN(PeerInfo peer_info, DecodePeerInfo(table.At(Rank{rank})));
    peer_infos.push_back(std::move(peer_info));
  }
  return peer_infos;
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
  for (const std::string& note : ports.notes) process.WarnOnce(note);
  const auto tune = [&](const plan::GpuPlan& gpus) { return begin(NodeSizes(gpus)); };
  RINGLET_TRY_ASSIGN(planned.machine,
                     GpuMachine::Plan(process.settings(), peer_table, process.graphs(),
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
    origin.process->WarnOnce(fmt::format("{}: the channels are not dumped: {}",
                                         VariableOf(settings, "GRAPH_DUMP_FILE"),
                                         written.error().message));
}

namespace {

// The reason why some of `peers` do not answer, if this host knows it.
std::string StoppedAmong(const std::vector<Rank>& peers, const bootstrap::Roster& roster,
                         const Process& process) {
  std::string text;
  for (const Rank peer : peers)
    if (const std::string stopped = roster.StoppedText(peer, process.is_stopped());
        !stopped.empty())
      text += roster.DescribeRank(peer) + " " + stopped + "; ";
  return text;
}

}  // namespace

Result<std::unique_ptr<transport::Links>> Connect(const Origin& origin,
                                                  const plan::ChannelPlan& plan,
                                                  const PeerTable& peer_table, Control& control,
                                                  transport::ListenerSet listeners,
                                                  const std::stop_token& abort) {
  Process& process = *origin.process;
  const Instant deadline = os::SocketDriver::Now() + InitTimeout(process, origin.config);
  // Those who have their host's memory make links within it when they first want one.
  std::vector<Rank> peers = plan.RingNeighboursOf(Rank{origin.config.rank});
  if (UsesHostMemory(origin, peer_table))
    std::erase_if(peers,
                  [&](Rank peer) { return SameHost(peer_table, origin.config.rank, Index(peer)); });
  RINGLET_TRY_ASSIGN(auto request, RequestFor(origin, peers, peer_table, control, deadline));
  for (std::uint32_t rank = 0; rank < origin.config.size; ++rank)
    if (SameHost(peer_table, origin.config.rank, rank))
      request.later.push_back(NeighbourOf(Rank{rank}, peer_table, control.roster()));

  return control.WhileStanding(abort, [&](const std::stop_token& stop) {
    transport::ConnectTools tools = ToolsOf(process);
    tools.abort = stop;
    auto links = transport::Connect(std::move(request), std::move(listeners), tools);
    if (links.ok() || links.error().code != Code::kTimeout) return links;
    Error error = std::move(links).error();
    error.message = StoppedAmong(peers, control.roster(), process) + error.message;
    return Result<std::unique_ptr<transport::Links>>(std::move(error));
  });
}

Status Report(const Origin& origin, Control& control, const Timeline& timeline) {
  Process& process = *origin.process;
  process.logger().Log(LogLevel::kInfo, Subsystem::kInit, origin.config.device,
                       timeline.Line(origin.config.rank, origin.config.size));
  const std::string& file = process.settings().trace;
  if (file.empty()) return Ok();
  RINGLET_TRY_ASSIGN(const bootstrap::Table all, control.AllGather(Encode(timeline)));
  if (origin.config.rank != 0) return Ok();
  std::vector<RankTimeline> timelines;
  for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
    RINGLET_TRY_ASSIGN(Timeline its, DecodeTimeline(all.At(Rank{rank})));
    timelines.push_back({control.roster().DescribeRank(Rank{rank}), std::move(its)});
  }
  // A trace that cannot be written is no reason to fail a communicator.
  if (const Status written = os::WriteFile(file, TraceOf(timelines)); !written.ok())
    process.logger().Log(LogLevel::kWarn, Subsystem::kInit, origin.config.device,
                         VariableOf(process.settings(), "TRACE") + ": " + written.error().message);
  return Ok();
}

void WarnOfSharedFiles(const Origin& origin, const PeerTable& peer_table) {
  Process& process = *origin.process;
  const Settings& settings = process.settings();
  const bool shares = !settings.shm_disable && settings.links != LinkChoice::kTcp &&
                      settings.links != LinkChoice::kOfi;
  for (std::uint32_t rank = 0; shares && rank < origin.config.size; ++rank) {
    if (rank == origin.config.rank || !SameHost(peer_table, origin.config.rank, rank)) continue;
    const std::string why = os::Shm::WhyInFiles();
    if (!why.empty())
      process.WarnOnce(why +
                       "; ranks of this host share memory in files without a name in /dev/shm "
                       "instead (NCCL_SHM_DISABLE=1: they do not share memory)");
    return;
  }
}

std::unique_ptr<Communicator> Finish(Origin origin, std::unique_ptr<Control> control,
                                     PeerTable peer_table, plan::ChannelPlan plan,
                                     std::unique_ptr<transport::Links> links,
                                     HostMemoryParts memory, Planned planned) {
  const std::shared_ptr<const GpuMachine>& machine = planned.machine;
  WarnOfSharedFiles(origin, peer_table);
  origin.config.device = DeviceOf(Rank{origin.config.rank}, peer_table);
  const Config& config = origin.config;
  const auto timeout = OperationTimeout(*origin.process, config);
  control->set_operation_timeout(timeout);
  os::Logger& logger = origin.process->logger();
  const Rank rank{config.rank};
  if (machine && logger.Wants(LogLevel::kInfo, Subsystem::kInit))
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
                         peer_table.hosts.size(), memory.arena ? "host memory" : links->Summary()));
  auto communicator = std::make_unique<Communicator>(
      Description{std::move(origin), std::move(peer_table), std::move(plan)}, std::move(control),
      std::move(links), std::move(memory), machine, timeout);
  communicator->SetTuner(std::move(planned.tuner));
  return communicator;
}

}  // namespace ringlet::comm
