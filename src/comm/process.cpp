#include "comm/process.hpp"

#include <algorithm>

#include "collective/algorithm_choice.hpp"
#include "comm/tuning.hpp"
#include "os/env.hpp"
#include "os/interfaces.hpp"
#include "os/limits.hpp"
#include "os/random.hpp"
#include "os/thread.hpp"
#include "topology/host_view.hpp"
#include "topology/path_options.hpp"

namespace ringlet::comm {
namespace {

// How long what was said last may take to leave when a machine has finished.
constexpr Instant kLinger = std::chrono::seconds(5);

}  // namespace

Result<std::shared_ptr<Process>> Process::Start(const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(Settings settings, ParseSettings(environment));
  if (auto paths = topology::ReadPathOptions(settings); !paths.ok()) return paths.error();
  RINGLET_TRY_ASSIGN(os::FileTree files, os::FileTree::Open("/"));
  os::Host host = os::ReadHost(files);
  // One control connection is one descriptor: take all that the system allows.
  // What communicators will need of it: wrong here is wrong for all of them.
  RINGLET_TRY(collective::ParseAlgorithmChoice(settings.host_algo));
  RINGLET_TRY_ASSIGN(collective::TuningTable measured, ReadTuning(settings));
  const std::uint64_t descriptors_max = os::RaiseDescriptorLimit();
  // Random rather than made of pid and start time: pids repeat over containers of one host.
  RINGLET_TRY_ASSIGN(const Secret identity, os::SecureRandom());
  RINGLET_TRY_ASSIGN(auto driver, os::SocketDriver::Create());
  std::shared_ptr<Process> process(new Process(std::move(settings), std::move(host),
                                               std::move(files), std::move(driver),
                                               Reader(identity).U64()));
  process->descriptors_max_ = descriptors_max;
  process->measured_choices_ = std::move(measured);
  for (const std::string& warning : process->settings_.warnings)
    process->logger_.Log(LogLevel::kWarn, Subsystem::kEnv, std::nullopt, warning);
  return process;
}

Result<std::shared_ptr<Process>> Process::StartHere() {
  return Start(os::ReadEnvironment());
}

Process::Process(Settings settings, os::Host host, os::FileTree files,
                 std::unique_ptr<os::SocketDriver> driver, std::uint64_t process_hash)
    : settings_(std::move(settings)),
      host_(std::move(host)),
      files_(std::move(files)),
      logger_(settings_, host_.name, host_.pid),
      host_hash_(topology::HostIdentity(host_.name, host_.boot_id, settings_.host_id)),
      process_hash_(process_hash),
      driver_(std::move(driver)) {
  usable_cores_ = os::UsableCores();
  service_ = std::thread([this] {
    os::BecomeServiceThread("ringlet");
    driver_->Run();
    near_memory_.reset();
  });
}

Process::~Process() {
  driver_->Post([this] { driver_->Stop(); });
  service_.join();
}

std::size_t Process::HalfOpenMax(std::size_t wanted) const {
  constexpr std::size_t kShare = 8;  // of the descriptors that the process may have
  return std::clamp<std::size_t>(descriptors_max_ / kShare, 1, wanted);
}

Result<std::vector<Address>> Process::ReachableAddresses() const {
  RINGLET_TRY_ASSIGN(const auto interfaces, os::ListInterfaces());
  const os::InterfaceFilter filter{.names = settings_.socket_ifname,
                                   .family = settings_.socket_family};
  RINGLET_TRY_ASSIGN(const auto usable, os::UsableAddresses(interfaces, filter));
  std::vector<Address> reachable, local;
  for (const os::UsableAddress& one : usable)
    (one.host_local() ? local : reachable).push_back(one.address);
  return reachable.empty() ? local : reachable;
}

void Process::ServeNear(const topology::CpuSet& cpus, std::uint32_t numa_node) {
  if (cpus.empty()) return;
  driver_->Post([this, cpus, numa_node] {
    const bool first = near_.empty();
    near_ = near_.JoinedWith(cpus);
    std::vector<os::CpuRange> ranges;
    for (const topology::CpuSet::Range& range : near_.ranges())
      ranges.push_back({range.first, range.last});
    const Status moved = os::RunOn(ranges);
    if (!moved.ok())
      logger_.Log(LogLevel::kInfo, Subsystem::kInit, std::nullopt, moved.error().message);
    // What several ranks share lies where it is used first.
    if (first) near_node_ = numa_node;
    if (near_node_ != numa_node) near_node_.reset();
    if (!near_node_) near_memory_.reset();
    if (near_node_ && !near_memory_) near_memory_.emplace(*near_node_);
  });
}

void Process::WarnOnce(const std::string& text) {
  const std::lock_guard lock(warned_mutex_);
  if (warned_.insert(text).second)
    logger_.Log(LogLevel::kWarn, Subsystem::kInit, std::nullopt, text);
}

void Process::Host(os::Hosted hosted) {
  driver_->Post([this, shared = std::make_shared<os::Hosted>(std::move(hosted))] {
    const std::shared_ptr<Machine> machine = shared->machine;
    const auto changed = std::move(shared->changed);
    const auto id = std::make_shared<os::SocketDriver::Id>(0);
    shared->changed = [this, machine, changed, id] {
      if (changed) changed();
      if (machine->Finished()) driver_->Remove(*id, kLinger);
    };
    *id = driver_->Add(std::move(*shared));
  });
}

}  // namespace ringlet::comm
