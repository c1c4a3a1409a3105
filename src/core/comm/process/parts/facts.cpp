#include "comm/process/parts/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/settings/setting_table.hpp"
#include "base/value/text.hpp"
#include "base/wire/handshake.hpp"
#include "collective/reduce/reduce.hpp"
#include "collective/select/algorithm_choice.hpp"
#include "comm/process/parts/fault.hpp"
#include "comm/process/parts/slow_link.hpp"
#include "comm/process/parts/tuning.hpp"
#include "discovery/nvml.hpp"
#include "os/clock.hpp"
#include "os/net/caller_filter.hpp"
#include "os/net/congestion.hpp"
#include "os/net/interfaces.hpp"
#include "os/process/limits.hpp"
#include "os/process/process_state.hpp"
#include "os/process/random.hpp"
#include "os/process/signal_counter.hpp"
#include "os/process/thread.hpp"
#include "topology/paths/path_options.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::comm {
namespace {

/// Returns the error of a setting, if it has one, with the variable that set the value.
template <typename Parse>
Status Check(const Settings& settings, std::string_view name, const std::string& value,
             const Parse& parse) {
  if (value.empty()) return Ok();
  const auto parsed = parse(value);
  if (parsed.ok()) return Ok();
  Error error = parsed.error();
  error.message = fmt::format("{}: {}", VariableOf(settings, name), error.message);
  return error;
}

Status CheckDumpSignal(const Settings& settings) {
  const std::string& name = settings.dump_signal;
  if (name.empty() || os::SignalNamed(name)) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("{} is {}: it must be HUP, QUIT, USR1 or USR2",
                           VariableOf(settings, "DUMP_SIGNAL"), Quoted(Printable(name, 32)))};
}

/// Facts that do not change while the machine runs.
struct LastingFacts {
  std::string boot_id;
  std::optional<topology::NumaNode> only_node;
};

// Read once in a process and its forks. Not cached after a lack of descriptors. Uses no lock,
// because another thread could hold it at the fork.
LastingFacts LastingFactsIn(const os::FileTree& live) {
  static std::atomic<const LastingFacts*> known{nullptr};
  if (const LastingFacts* const facts = known) return *facts;
  const std::uint64_t shortages = live.shortages();
  auto facts = std::make_unique<const LastingFacts>(
      LastingFacts{os::ReadBootId(live), discovery::ReadOnlyNode(live)});
  if (live.shortages() != shortages) return *facts;
  const LastingFacts* nobodys = nullptr;
  if (known.compare_exchange_strong(nobodys, facts.get())) return *facts.release();
  return *nobodys;
}

}  // namespace

Result<ProcessFacts> ProcessFacts::Read(const EnvMap& environment,
                                        const FileVariables& conf_files) {
  RINGLET_TRY_ASSIGN(Settings settings, ParseSettings(environment, conf_files));
  if (auto paths = topology::ReadPathOptions(settings); !paths.ok()) return paths.error();
  RINGLET_TRY_ASSIGN(os::FileTree files, os::FileTree::Open("/"));
  os::Host host = os::HostOf(LastingFactsIn(files).boot_id);
  // Validates the settings of communicators here, because an error affects all of them.
  RINGLET_TRY(collective::ParseAlgorithmChoice(settings.host_algo));
  RINGLET_TRY(Check(settings, "FAULT", settings.fault, ParseFault));
  RINGLET_TRY(Check(settings, "SLOW", settings.slow, ParseSlowLinks));
  RINGLET_TRY(
      Check(settings, "TCP_CONGESTION", settings.tcp_congestion, os::CheckCongestionControl));
  RINGLET_TRY(CheckDumpSignal(settings));
  RINGLET_TRY_ASSIGN(collective::TuningTable measured, ReadTuning(settings));
  RINGLET_TRY_ASSIGN(plan::GraphText graphs, ReadGraphFile(settings));
  // Each control connection takes a descriptor, so this raises the limit to its maximum.
  const std::uint64_t descriptors_max = os::RaiseDescriptorLimit();
  // Random instead of derived from pid and start time, because containers of one host repeat pids.
  RINGLET_TRY_ASSIGN(const Secret identity, os::SecureRandom());
  const std::uint64_t host_hash = topology::HostIdentity(host.name, host.boot_id, settings.host_id);
  return ProcessFacts{.settings = std::move(settings),
                      .host = std::move(host),
                      .files = std::move(files),
                      .host_hash = host_hash,
                      .process_hash = Reader(identity).U64(),
                      .usable_cores = os::UsableCores(),
                      .measured_choices = std::move(measured),
                      .graphs = std::move(graphs),
                      .descriptors_max = descriptors_max};
}

void ProcessFacts::CacheHostFacts() {
  collective::ChooseKernels();
  (void)os::KernelHoldsCallers();
  if (const auto files = os::FileTree::Open("/"); files.ok()) (void)LastingFactsIn(*files);
}

bool ProcessFacts::MaySpin(std::uint32_t ranks) const {
  if (settings.wait == WaitChoice::kAuto) return ranks <= usable_cores;
  return settings.wait == WaitChoice::kSpin;
}

std::size_t ProcessFacts::HalfOpenMax(std::size_t wanted) const {
  constexpr std::size_t kShare = 8;  // of the descriptors that the process may have
  return std::clamp<std::size_t>(descriptors_max / kShare, 1, wanted);
}

std::uint64_t ProcessFacts::NetNamespaceOf(const transport::ListenerSet& listeners) const {
  return listeners.net_namespace ? *listeners.net_namespace : os::NetNamespace(files);
}

bootstrap::IsStopped ProcessFacts::is_stopped() const {
  return [this](std::string_view name, std::uint32_t pid) {
    return name == host.name && os::ProcessState(files, pid) == "stopped";
  };
}

Result<std::vector<os::UsableAddress>> HostReader::ReachableInterfaces(bool alone) {
  const std::lock_guard lock(mutex_);
  const Instant now = os::Now();
  if (interfaces_.empty() || now - interfaces_read_at_ > kInterfacesFresh) {
    const Settings& settings = facts_.settings;
    auto found = os::FindReachable(os::FilterOf(settings));
    if (!found.ok() && alone && settings.socket_ifname.empty()) {
      return std::vector{
          os::UsableAddress{"lo", Address::Ipv4(127, 0, 0, 1, 0), os::InterfaceTier::kLoopback}};
    }
    RINGLET_TRY_ASSIGN(interfaces_, std::move(found));
    interfaces_read_at_ = now;
  }
  return interfaces_;
}

Result<std::vector<Address>> HostReader::ReachableAddresses(bool alone) {
  RINGLET_TRY_ASSIGN(const auto interfaces, ReachableInterfaces(alone));
  std::vector<Address> addresses;
  for (const os::UsableAddress& one : interfaces) addresses.push_back(one.address);
  return addresses;
}

Result<discovery::HostScan> HostReader::Scan(bool devices) {
  const std::lock_guard lock(mutex_);
  std::optional<discovery::HostScan>& known = scans_[devices ? 1 : 0];
  if (known) return *known;
  discovery::Nvml driver;
  const discovery::ScanOptions options{.host_name = facts_.host.name,
                                       .identity = facts_.host_hash,
                                       .interfaces = facts_.settings.socket_ifname,
                                       .devices = devices,
                                       .only_node = LastingFactsIn(facts_.files).only_node,
                                       .gpus = &driver};
  RINGLET_TRY_ASSIGN(discovery::HostScan scan, discovery::Scan(facts_.files, options));
  for (const std::string& missing : scan.missing)
    logger_.Log(LogLevel::kInfo, Subsystem::kGraph, std::nullopt, missing);
  known = std::move(scan);
  return *known;
}

}  // namespace ringlet::comm
