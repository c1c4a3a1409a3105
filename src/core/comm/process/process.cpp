#include "comm/process/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "base/settings/setting_table.hpp"
#include "base/value/text.hpp"
#include "collective/reduce/reduce.hpp"
#include "collective/select/algorithm_choice.hpp"
#include "comm/process/fault.hpp"
#include "comm/process/slow_link.hpp"
#include "comm/process/tuning.hpp"
#include "discovery/nvml.hpp"
#include "os/clock.hpp"
#include "os/fs/conf_files.hpp"
#include "os/net/caller_filter.hpp"
#include "os/net/congestion.hpp"
#include "os/net/interfaces.hpp"
#include "os/process/env.hpp"
#include "os/process/limits.hpp"
#include "os/process/process_state.hpp"
#include "os/process/random.hpp"
#include "os/process/remote_fence.hpp"
#include "os/process/signal_counter.hpp"
#include "os/process/thread.hpp"
#include "topology/paths/path_options.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::comm {
namespace {

/// Returns `error` with the variable that set the value.
Error Of(const Settings& settings, std::string_view name, Error error) {
  error.message = fmt::format("{}: {}", VariableOf(settings, name), error.message);
  return error;
}

Status CheckFault(const Settings& settings) {
  if (settings.fault.empty()) return Ok();
  const auto fault = ParseFault(settings.fault);
  return fault.ok() ? Ok() : Status(Of(settings, "FAULT", fault.error()));
}

Status CheckSlowLinks(const Settings& settings) {
  if (settings.slow.empty()) return Ok();
  const auto links = ParseSlowLinks(settings.slow);
  return links.ok() ? Ok() : Status(Of(settings, "SLOW", links.error()));
}

Status CheckDumpSignal(const Settings& settings) {
  const std::string& name = settings.dump_signal;
  if (name.empty() || os::SignalNamed(name)) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("{} is {}: it must be HUP, QUIT, USR1 or USR2",
                           VariableOf(settings, "DUMP_SIGNAL"), Quoted(Printable(name, 32)))};
}

// Delay before the status socket opens. No user queries it sooner, and forming ranks need not wait.
constexpr std::chrono::milliseconds kShownAfter(20);
// Duration of a peer's part of a handshake.
constexpr Instant kSpin = std::chrono::microseconds(100);
// Time for the last messages of a finished machine to leave.
constexpr Instant kLinger = std::chrono::seconds(5);
// More than the kernel's part of loopback can use. Other programs need cores too.
constexpr std::size_t kServicesMax = 4;
// Maximum number of callers of an endpoint that have not named their target yet.
constexpr std::size_t kHalfOpenMax = 32'768;

/// Facts that do not change while the machine runs.
struct ConstantFacts {
  std::string boot_id;
  std::optional<topology::NumaNode> only_node;
};

// Read once in a process and its forks. Not cached after a lack of descriptors. Uses no lock,
// because another thread could hold it at the fork.
ConstantFacts LastingFactsIn(const os::FileTree& live) {
  static std::atomic<const ConstantFacts*> known{nullptr};
  if (const ConstantFacts* const facts = known) return *facts;
  const std::uint64_t shortages = live.shortages();
  auto facts = std::make_unique<const ConstantFacts>(
      ConstantFacts{os::ReadBootId(live), discovery::ReadOnlyNode(live)});
  if (live.shortages() != shortages) return *facts;
  const ConstantFacts* nobodys = nullptr;
  if (known.compare_exchange_strong(nobodys, facts.get())) return *facts.release();
  return *nobodys;
}

Status CheckSockets(const Settings& settings) {
  if (settings.tcp_congestion.empty()) return Ok();
  const Status status = os::CheckCongestionControl(settings.tcp_congestion);
  return status.ok() ? status : Of(settings, "TCP_CONGESTION", status.error());
}

}  // namespace

Result<std::shared_ptr<Process>> Process::Start(const EnvMap& environment,
                                                const FileVariables& conf_files) {
  RINGLET_TRY_ASSIGN(auto process, Make(environment, conf_files));
  RINGLET_TRY(process->AddService());
  process->Serve();
  process->Show();
  return process;
}

// Makes all parts that do not need a thread.
Result<std::shared_ptr<Process>> Process::Make(const EnvMap& environment,
                                               const FileVariables& conf_files) {
  RINGLET_TRY_ASSIGN(Settings settings, ParseSettings(environment, conf_files));
  if (auto paths = topology::ReadPathOptions(settings); !paths.ok()) return paths.error();
  RINGLET_TRY_ASSIGN(os::FileTree files, os::FileTree::Open("/"));
  os::Host host = os::HostOf(LastingFactsIn(files).boot_id);
  // Validates the settings of communicators here, because an error affects all of them.
  RINGLET_TRY(collective::ParseAlgorithmChoice(settings.host_algo));
  RINGLET_TRY(CheckFault(settings));
  RINGLET_TRY(CheckSlowLinks(settings));
  RINGLET_TRY(CheckSockets(settings));
  RINGLET_TRY(CheckDumpSignal(settings));
  RINGLET_TRY_ASSIGN(collective::TuningTable measured, ReadTuning(settings));
  RINGLET_TRY_ASSIGN(plan::GraphText graphs, ReadGraphFile(settings));
  // Each control connection takes a descriptor, so this raises the limit to its maximum.
  const std::uint64_t descriptors_max = os::RaiseDescriptorLimit();
  // Random instead of derived from pid and start time, because containers of one host repeat pids.
  RINGLET_TRY_ASSIGN(const Secret identity, os::SecureRandom());
  std::shared_ptr<Process> process(
      new Process(std::move(settings), std::move(host), std::move(files), Reader(identity).U64()));
  process->descriptors_max_ = descriptors_max;
  process->measured_choices_ = std::move(measured);
  process->graphs_ = std::move(graphs);
  return process;
}

// Makes the parts that the first service's driver serves for all.
void Process::Serve() {
  first_ = services_.front().get();
  endpoints_ = std::make_unique<transport::SharedListeners>(
      driver(), transport::SharedListeners::Options{.timeout = settings_.handshake_timeout,
                                                    .half_open_max = HalfOpenMax(kHalfOpenMax),
                                                    .note = [this](const Note& note) {
                                                      logger_.Log(note.level, Subsystem::kBootstrap,
                                                                  std::nullopt, note.text);
                                                    }});
  for (const std::string& warning : settings_.warnings)
    logger_.Log(LogLevel::kWarn, Subsystem::kEnv, std::nullopt, warning);
  for (const std::string& note : settings_.notes)
    logger_.Log(LogLevel::kInfo, Subsystem::kEnv, std::nullopt, note);
}

void Process::Show() {
  std::call_once(shows_once_, [this] { OpenStatusSocket(); });
}

void Process::ShowLater() {
  if (shows_later_.exchange(true)) return;
  After(kShownAfter, [this] { Show(); });
}

Result<std::shared_ptr<Process>> Process::PrepareHere() {
  const EnvMap environment = os::ReadEnvironment();
  RINGLET_TRY_ASSIGN(auto process, Make(environment, os::ReadConfFiles(environment)));
  RINGLET_TRY(process->PrepareService());
  process->Serve();
  if (process->NeedsServiceAtStart()) process->Show();
  return process;
}

bool Process::MaySpin(std::uint32_t ranks) const {
  if (settings_.wait == WaitChoice::kAuto) return ranks <= usable_cores_;
  return settings_.wait == WaitChoice::kSpin;
}

os::SocketDriver::Lease Process::Borrow(std::uint32_t ranks) {
  os::SocketDriver::Lease lease(driver(), MaySpin(ranks) ? kSpin : Instant(0));
  ShowLater();
  return lease;
}

void Process::CacheHostFacts() {
  collective::ChooseKernels();
  (void)os::KernelHoldsCallers();
  if (const auto files = os::FileTree::Open("/"); files.ok()) (void)LastingFactsIn(*files);
}

// A failure is only a warning, because ranks work without a profiler.
ProfilerPlugin* Process::profiler() {
  if (PluginFiles({}, settings_.profiler_plugin).empty()) return nullptr;
  std::call_once(loads_profiler_once_, [this] {
    auto loaded = ProfilerPlugin::Load(settings_.profiler_plugin, logger_);
    if (!loaded.ok()) return WarnOnce(Of(settings_, "PROFILER_PLUGIN", loaded.error()).message);
    profiler_ = *std::move(loaded);
  });
  return profiler_.get();
}

TunerPlugin* Process::tuner() {
  if (PluginFiles({}, settings_.tuner_plugin).empty()) return nullptr;
  std::call_once(loads_tuner_once_, [this] {
    auto loaded = TunerPlugin::Load(settings_.tuner_plugin, logger_);
    if (!loaded.ok()) return WarnOnce(Of(settings_, "TUNER_PLUGIN", loaded.error()).message);
    tuner_ = *std::move(loaded);
  });
  return tuner_.get();
}

Result<std::shared_ptr<Process>> Process::StartIn(const EnvMap& environment) {
  return Start(environment, os::ReadConfFiles(environment));
}

Result<std::shared_ptr<Process>> Process::StartHere(const EnvMap& overrides) {
  EnvMap environment = os::ReadEnvironment();
  for (const auto& [name, value] : overrides) environment.insert_or_assign(name, value);
  return StartIn(environment);
}

Process::Process(Settings settings, os::Host host, os::FileTree files, std::uint64_t process_hash)
    : settings_(std::move(settings)),
      host_(std::move(host)),
      files_(std::move(files)),
      logger_(settings_, host_.name, host_.pid),
      host_hash_(topology::HostIdentity(host_.name, host_.boot_id, settings_.host_id)),
      process_hash_(process_hash),
      usable_cores_(os::UsableCores()) {}

// Ends the first service thread last, because the others post to it. Ends each without the lock,
// because its thread may wait for the lock.
Process::~Process() {
  endpoints_.reset();
  const auto take_last = [this]() -> std::unique_ptr<Service> {
    const std::lock_guard lock(services_mutex_);
    if (services_.empty()) return nullptr;
    std::unique_ptr<Service> last = std::move(services_.back());
    services_.pop_back();
    return last;
  };
  while (const auto last = take_last()) {
  }
}

Status Process::AddService() {
  const std::string number = services_.empty() ? "" : "-" + std::to_string(services_.size());
  RINGLET_TRY_ASSIGN(auto service, Service::Start("ringlet" + number, logger_));
  Keep(std::move(service));
  return Ok();
}

Status Process::PrepareService() {
  if (NeedsServiceAtStart()) return AddService();
  RINGLET_TRY_ASSIGN(auto service, Service::Prepare("ringlet", logger_, [this] { ShowLater(); }));
  Keep(std::move(service));
  return Ok();
}

// True if settings require files, signals or clients to be served before the first rank exists.
bool Process::NeedsServiceAtStart() const {
  return !settings_.metrics_file.empty() || !settings_.dump_signal.empty() ||
         settings_.ras_enable.value_or(0) == 1 || !settings_.ras_addr.empty();
}

void Process::Keep(std::unique_ptr<Service> service) {
  for (const Neighbourhood& one : near_) service->RunNear(one.cpus, one.numa_node);
  services_.push_back(std::move(service));
}

Process::ServiceSlot Process::ReserveService() {
  const std::lock_guard lock(services_mutex_);
  std::vector<std::uint32_t> ranks;
  for (const auto& service : services_) ranks.push_back(service->ranks());
  const std::size_t most = std::clamp<std::size_t>(usable_cores_, 1, kServicesMax);
  std::size_t index = ThreadForNextRank(ranks, most);
  // If no thread can start, an existing one serves the rank, with more delay.
  if (index == services_.size() && !AddService().ok())
    index = ThreadForNextRank(ranks, services_.size());
  Service& service = *services_[index];
  return {service, service.ReserveService()};
}

os::SocketDriver::Counters Process::ReadCounters() {
  const std::lock_guard lock(services_mutex_);
  os::SocketDriver::Counters sum;
  for (const auto& service : services_) {
    std::promise<os::SocketDriver::Counters> promise;  // they belong to the service's thread
    service->driver().Post([&] { promise.set_value(service->driver().counters()); });
    sum += promise.get_future().get();
  }
  return sum;
}

std::uint64_t Process::shortages() const {
  const std::lock_guard lock(services_mutex_);
  std::uint64_t sum = files_.shortages();
  for (const auto& service : services_) sum += service->driver().shortages();
  return sum;
}

bootstrap::IsStopped Process::is_stopped() const {
  return [this](std::string_view host, std::uint32_t pid) {
    return host == host_.name && os::ProcessState(files_, pid) == "stopped";
  };
}

std::size_t Process::HalfOpenMax(std::size_t wanted) const {
  constexpr std::size_t kShare = 8;  // of the descriptors that the process may have
  return std::clamp<std::size_t>(descriptors_max_ / kShare, 1, wanted);
}

std::uint64_t Process::NetNamespaceOf(const transport::ListenerSet& listeners) const {
  return listeners.net_namespace ? *listeners.net_namespace : os::NetNamespace(files_);
}

Result<std::vector<os::UsableAddress>> Process::ReachableInterfaces(bool alone) {
  const std::lock_guard lock(scans_mutex_);
  const Instant now = os::Now();
  if (interfaces_.empty() || now - interfaces_read_at_ > kInterfacesFresh) {
    auto found = os::FindReachable(os::FilterOf(settings_));
    if (!found.ok() && alone && settings_.socket_ifname.empty()) {
      return std::vector{
          os::UsableAddress{"lo", Address::Ipv4(127, 0, 0, 1, 0), os::InterfaceTier::kLoopback}};
    }
    RINGLET_TRY_ASSIGN(interfaces_, std::move(found));
    interfaces_read_at_ = now;
  }
  return interfaces_;
}

Result<std::vector<Address>> Process::ReachableAddresses(bool alone) {
  RINGLET_TRY_ASSIGN(const auto interfaces, ReachableInterfaces(alone));
  std::vector<Address> addresses;
  for (const os::UsableAddress& one : interfaces) addresses.push_back(one.address);
  return addresses;
}

void Process::MoveServicesNear(const topology::CpuSet& cpus, std::uint32_t numa_node) {
  if (cpus.empty()) return;
  const std::lock_guard lock(services_mutex_);
  const Neighbourhood local_host{cpus, numa_node};
  if (std::ranges::find(near_, local_host) != near_.end()) return;
  near_.push_back(local_host);
  for (const auto& service : services_) service->RunNear(cpus, numa_node);
}

std::shared_ptr<collective::InProcessBuffers> Process::InProcessBuffersOf(const Secret& secret,
                                                                          std::uint32_t ranks) {
  const std::lock_guard lock(in_process_buffers_mutex_);
  std::erase_if(in_process_buffers_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<collective::InProcessBuffers>& known = in_process_buffers_[secret];
  auto buffers = known.lock();
  if (!buffers) known = buffers = std::make_shared<collective::InProcessBuffers>(ranks);
  return buffers;
}

Result<discovery::HostScan> Process::ScanHost(bool devices) {
  const std::lock_guard lock(scans_mutex_);
  std::optional<discovery::HostScan>& known = scans_[devices ? 1 : 0];
  if (known) return *known;
  discovery::Nvml driver;
  const discovery::ScanOptions options{.host_name = host_.name,
                                       .identity = host_hash_,
                                       .interfaces = settings_.socket_ifname,
                                       .devices = devices,
                                       .only_node = LastingFactsIn(files_).only_node,
                                       .gpus = &driver};
  RINGLET_TRY_ASSIGN(discovery::HostScan scan, discovery::Scan(files_, options));
  for (const std::string& missing : scan.missing)
    logger_.Log(LogLevel::kInfo, Subsystem::kGraph, std::nullopt, missing);
  known = std::move(scan);
  return *known;
}

void Process::After(std::chrono::milliseconds wait, std::function<void()> work) {
  driver().PostAfter(wait, std::move(work));
}

// Without this thread, the ranks of this process issue fences themselves.
void Process::JoinRemoteFences() {
  if (os::HasJoinedRemoteFences()) return;
  std::call_once(joins_fences_once_, [this] {
    After(kFencesAfter, [this] {
      auto started = os::StartThread("to take part in fences", [](const std::stop_token&) {
        os::BecomeServiceThread("ringlet-fences");
        (void)os::JoinRemoteFences();
      });
      if (started.ok()) joins_fences_ = *std::move(started);
    });
  });
}

void Process::LogOnce(LogLevel level, const std::string& text) {
  const std::lock_guard lock(warned_mutex_);
  if (warned_.insert(text).second) logger_.Log(level, Subsystem::kInit, std::nullopt, text);
}

void Process::HostRoot(const std::shared_ptr<bootstrap::Root>& root, os::Hosted hosted) {
  os::SocketDriver* const first = &driver();
  first->Post([this, first, root, shared = std::make_shared<os::Hosted>(std::move(hosted))] {
    const auto id = std::make_shared<os::SocketDriver::Id>(0);
    shared->changed = [this, first, root, id] {
      if (!root->Finished()) return;
      first->Remove(*id, kLinger);
      std::erase_if(roots_, [&](const Hosting& hosting) { return hosting.id == *id; });
    };
    *id = first->Add(std::move(*shared));
    roots_.push_back({root, *id});
    ForgetUnusedRoots();
  });
}

void Process::RefuseAtRoot(std::uint64_t magic, bootstrap::Failure why) {
  driver().Post([this, magic, why = std::move(why)] {
    for (const Hosting& hosting : roots_) {
      const auto root = hosting.root.lock();
      if (!root || root->magic() != magic) continue;
      root->Refuse(why, os::Now());
      driver().RequestTick(hosting.id);
    }
  });
}

// Roots in use, or done, are kept and only leave the count.
void Process::ForgetUnusedRoots() {
  while (roots_.size() > kUnusedRootsMax) {
    const Hosting oldest = std::move(roots_.front());
    roots_.pop_front();
    const auto root = oldest.root.lock();
    if (!root || root->checked_in() > 0) continue;
    driver().Remove(oldest.id);
    WarnOnce(
        fmt::format("more than {} unique ids of this process wait to be used: the oldest are "
                    "dropped, and ranks that join with one are refused",
                    kUnusedRootsMax));
  }
}

}  // namespace ringlet::comm
