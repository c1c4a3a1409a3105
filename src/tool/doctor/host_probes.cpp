#include "tool/doctor/host_probes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/settings/settings_text.hpp"
#include "base/value/text.hpp"
#include "os/clock.hpp"
#include "os/error.hpp"
#include "os/fs/conf_files.hpp"
#include "os/net/listener.hpp"
#include "os/net/poll.hpp"
#include "os/process/host.hpp"
#include "os/process/limits.hpp"
#include "os/process/process_memory.hpp"
#include "programs/child.hpp"
#include "tool/check/checked_machine.hpp"
#include "tool/doctor/interface_probe.hpp"
#include "tool/doctor/kernel_figures.hpp"
#include "tool/text/version.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kKernelTextMax = std::size_t{64} << 20;  // /proc/net/tcp with many sockets
constexpr std::size_t kNameAddressesMax = 16;
constexpr std::size_t kNameBytesMax = 16'384;
constexpr Instant kResolverWait = std::chrono::seconds(5);
constexpr std::size_t kSettingBytesMax = 1024;

std::string ReadOr(const os::FileTree& files, const std::string& path) {
  const Result<std::string> text = files.Read(path, kKernelTextMax);
  return text.ok() ? *text : "";
}

/// Runs `getent` for at most kResolverWait. The resolver of this process cannot be interrupted and
/// takes half a minute if a name server is down.
Result<std::string> RunResolver(const std::string& name, const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(os::Child child, os::Child::Start({.arguments = {"getent", "ahosts", name},
                                                        .environment = environment}));
  const Instant until = os::Now() + kResolverWait;
  std::string text;
  while (os::Now() < until) {
    const std::array<int, 1> watched = {child.output().get()};
    os::PollReadable(watched, until - os::Now());
    const os::Arrived arrived = os::ReadAvailable(child.output(), kNameBytesMax);
    text += arrived.bytes;
    if (arrived.end || text.size() > kNameBytesMax) return text;
  }
  return Error{Code::kTimeout, "the resolver has not answered in time"};
}

doctor::NameReport ProbeName(const std::string& host_name, const EnvMap& environment) {
  doctor::NameReport report{.host_name = host_name};
  const Result<std::string> text = RunResolver(host_name, environment);
  if (!text.ok()) {
    report.failure = text.error().message;
    return report;
  }
  // Lines are "10.0.0.1  STREAM name", repeated for other kinds of sockets.
  report.loopback = true;
  for (const std::string_view line : Split(*text, '\n')) {
    const std::string address(line.substr(0, line.find(' ')));
    if (address.empty() || std::ranges::count(report.addresses, address) > 0) continue;
    const bool is_ipv6 = address.find(':') != std::string::npos;
    const auto read = ParseAddress(is_ipv6 ? fmt::format("[{}]:1", address) : address + ":1");
    report.loopback = report.loopback && read.ok() && read->IsLoopback();
    if (report.addresses.size() < kNameAddressesMax) report.addresses.push_back(address);
  }
  report.loopback = report.loopback && !report.addresses.empty();
  if (report.addresses.empty()) report.failure = "name or service not known";
  return report;
}

doctor::ShmReport ProbeShm() {
  doctor::ShmReport report;
  struct statvfs space {};
  if (::statvfs("/dev/shm", &space) != 0) {
    report.failure = os::ErrnoText(errno);
    return report;
  }
  report.bytes = std::uint64_t{space.f_blocks} * space.f_frsize;
  report.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  // Opens a file without a name, which leaves no file behind.
  const os::Fd file(::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid() && errno != EOPNOTSUPP) report.failure = os::ErrnoText(errno);
  return report;
}

std::uint64_t HardLimit(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 ||
      limit.rlim_max == RLIM_INFINITY)
    return doctor::kUnlimited;
  return limit.rlim_max;
}

/// Calls `use` with the folder of each control group of `controller`, innermost first.
template <class Use>
void EachGroup(const os::FileTree& files, std::string_view controller, const Use& use) {
  for (const std::string& folder : ControlGroups(ReadOr(files, "/proc/self/cgroup"), controller))
    use(folder);
}

doctor::LimitReport ProbeLimits(const os::FileTree& files) {
  doctor::LimitReport report{.locked_bytes = HardLimit(RLIMIT_MEMLOCK),
                             .descriptors = HardLimit(RLIMIT_NOFILE),
                             .processes = HardLimit(RLIMIT_NPROC)};
  if (::geteuid() == 0) report.processes = doctor::kUnlimited;  // the limit does not apply to root
  EachGroup(files, "pids", [&](const std::string& folder) {
    const std::string text = ReadOr(files, folder + "/pids.max");
    if (text.empty() || LimitOf(text) >= report.tasks) return;
    report.tasks = LimitOf(text);
    report.tasks_used = ParseDecimal(Trim(ReadOr(files, folder + "/pids.current"))).value_or(0);
  });
  return report;
}

doctor::PeerMemoryReport ProbePeerMemory(const os::FileTree& files) {
  doctor::PeerMemoryReport report;
  if (const auto scope = ParseDecimal(Trim(ReadOr(files, "/proc/sys/kernel/yama/ptrace_scope"))))
    report.ptrace_scope = static_cast<std::uint32_t>(std::min<std::uint64_t>(*scope, 3));
  const int error = os::MemoryRefusal();
  report.permitted = error == 0;
  if (error != 0) report.why = os::ErrnoText(error);
  return report;
}

doctor::HugePageReport ProbeHugePages(const os::FileTree& files, const std::string& meminfo) {
  return {.total = MeminfoBytes(meminfo, "HugePages_Total"),
          .free = MeminfoBytes(meminfo, "HugePages_Free"),
          .bytes_each = MeminfoBytes(meminfo, "Hugepagesize"),
          .transparent = ChosenWord(ReadOr(files, "/sys/kernel/mm/transparent_hugepage/enabled"))};
}

doctor::CpuReport ProbeCpus(const os::FileTree& files) {
  constexpr std::size_t kMaskMax = 4096;
  doctor::CpuReport report;
  report.online = static_cast<std::uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1l));
  report.usable = os::UsableCores();
  for (const std::uint32_t cpu : os::UsableCpus()) {
    if (cpu >= kMaskMax) break;
    report.usable_mask.resize(std::max<std::size_t>(report.usable_mask.size(), cpu + 1), '0');
    report.usable_mask[cpu] = '1';
  }
  const auto nodes = files.List("/sys/devices/system/node");
  if (nodes.ok())
    report.numa_nodes =
        static_cast<std::uint32_t>(std::ranges::count_if(*nodes, [](const std::string& name) {
          return name.starts_with("node") && ParseDecimal(name.substr(4)).has_value();
        }));
  EachGroup(files, "cpu", [&](const std::string& folder) {
    const auto newer = QuotaPercent(ReadOr(files, folder + "/cpu.max"));
    const auto older = QuotaPercent(ReadOr(files, folder + "/cpu.cfs_quota_us"),
                                    ReadOr(files, folder + "/cpu.cfs_period_us"));
    for (const auto& quota : {newer, older})
      if (quota && (!report.quota_percent || *quota < *report.quota_percent))
        report.quota_percent = quota;
  });
  return report;
}

doctor::MemoryReport ProbeMemory(const os::FileTree& files, const std::string& meminfo) {
  doctor::MemoryReport report{.total_bytes = MeminfoBytes(meminfo, "MemTotal"),
                              .available_bytes = MeminfoBytes(meminfo, "MemAvailable")};
  EachGroup(files, "memory", [&](const std::string& folder) {
    for (const auto& [limit, used] :
         {std::pair{"/memory.max", "/memory.current"},
          std::pair{"/memory.limit_in_bytes", "/memory.usage_in_bytes"}}) {
      const std::string text = ReadOr(files, folder + limit);
      if (text.empty() || LimitOf(text) >= report.limit_bytes) continue;
      report.limit_bytes = LimitOf(text);
      // Cached files count as used, but the kernel frees them when it needs memory.
      std::uint64_t cached = 0;
      for (const std::string_view line : Split(ReadOr(files, folder + "/memory.stat"), '\n'))
        if (line.starts_with("inactive_file "))
          cached = ParseDecimal(line.substr(std::string_view("inactive_file ").size())).value_or(0);
      const std::uint64_t all = ParseDecimal(Trim(ReadOr(files, folder + used))).value_or(0);
      report.used_bytes = all > cached ? all - cached : 0;
    }
  });
  return report;
}

doctor::PortReport ProbePorts(const os::FileTree& files) {
  constexpr std::size_t kPorts = 65'536;
  doctor::PortReport report;
  std::string range = ReadOr(files, "/proc/sys/net/ipv4/ip_local_port_range");
  std::ranges::replace(range, '\t', ' ');
  std::vector<std::uint32_t> ends;
  for (const std::string_view part : Split(Trim(range), ' '))
    if (const auto port = ParseDecimal(part); port && *port < kPorts)
      ends.push_back(static_cast<std::uint32_t>(*port));
  if (ends.size() == 2) report.first = ends[0], report.last = ends[1];
  std::vector<bool> seen(kPorts);
  for (const std::string_view name : {"tcp", "tcp6"})
    MarkPorts(ReadOr(files, fmt::format("/proc/self/net/{}", name)), seen);
  for (std::uint32_t port = report.first; port <= report.last && port < kPorts; ++port)
    report.used += seen[port] ? 1u : 0u;
  if (const auto listener = os::Listen(Address::Ipv4(0, 0, 0, 0, 0)); !listener.ok())
    report.failure = os::ErrnoText(listener.error().os_errno);
  return report;
}

/// Returns true for settings of the job or of one rank. These differ by design or are secret.
bool IsOfTheRank(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {
      "RINGLET_RANK",      "RINGLET_LOCAL_RANK",   "RINGLET_WORLD_SIZE",
      "RINGLET_UNIQUE_ID", "RINGLET_SECRET",       "RINGLET_COMM_ID",
      "NCCL_COMM_ID",      "RINGLET_EMULATE_HOST", "RINGLET_HOSTID"};
  return std::ranges::count(kNames, name) > 0;
}

void ProbeSettings(const EnvMap& environment, doctor::HostFacts& facts) {
  const auto add = [&](const std::string& name, const std::string& value, bool must_agree,
                       const std::string& from) {
    if (IsOfTheRank(name)) return;
    facts.settings[name] = {.value = Printable(value, kSettingBytesMax),
                            .must_agree = must_agree,
                            .from = Printable(from, kSettingBytesMax)};
  };
  for (const auto& [name, value] : environment)
    if (name.starts_with("RINGLET_") || name.starts_with("NCCL_")) add(name, value, false, name);
  const Result<Settings> settings = os::ReadSettings(environment);
  if (!settings.ok()) {
    facts.settings_failure = settings.error().message;
    return;
  }
  // Settings from files count as well. If a setting has two names, Ringlet's name is kept.
  const auto list = nlohmann::ordered_json::parse(SettingsJson(*settings), nullptr, false);
  if (!list.is_array()) return;
  for (const auto& one : list) {
    const auto text = [&](const char* key) { return one.value(key, std::string()); };
    if (text("value") == text("default")) continue;
    facts.settings.erase(text("nccl_alias"));
    add(text("name"), text("value"), one.value("must_agree", false), text("from"));
  }
}

void ProbeTopology(doctor::HostFacts& facts) {
  constexpr std::size_t kDefectsMax = 256;
  const MachineToCheck machine = ReadMachine("this");
  if (!machine.view) return;
  facts.gpus = static_cast<std::uint32_t>(machine.view->gpus.size());
  CheckRates rates({});
  for (const topology::Defect& defect : CheckMachine(machine, nullptr, "", rates).defects)
    if (facts.defects.size() < kDefectsMax)
      facts.defects.push_back(
          {.rule = std::string(defect.rule->word),
           .severity = std::string(SeverityName(defect.severity)),
           .where = defect.where + (defect.name.empty() ? "" : " ") + defect.name,
           .reason = defect.reason,
           .cure = defect.cure});
}

}  // namespace

doctor::HostFacts ProbeHost(const EnvMap& environment) {
  doctor::HostFacts facts;
  const Result<os::FileTree> opened = os::FileTree::Open("/");
  if (!opened.ok()) return facts;
  const os::FileTree& files = *opened;
  const os::Host host = os::ReadHost(files);
  facts.host = host.name;
  facts.identity = fmt::format("{} {} {}", host.boot_id, os::NetNamespace(files), host.name);
  utsname system{};
  if (::uname(&system) == 0) {
    facts.kernel = system.release;
    facts.machine = system.machine;
  }
  facts.libc = ::gnu_get_libc_version();
  facts.ringlet = VersionText();
  facts.name = ProbeName(host.name, environment);
  facts.interfaces = ProbeInterfaces(files, environment);
  facts.shm = ProbeShm();
  facts.limits = ProbeLimits(files);
  facts.peer_memory = ProbePeerMemory(files);
  const std::string meminfo = ReadOr(files, "/proc/meminfo");
  facts.huge_pages = ProbeHugePages(files, meminfo);
  facts.cpus = ProbeCpus(files);
  facts.memory = ProbeMemory(files, meminfo);
  facts.ports = ProbePorts(files);
  ProbeSettings(environment, facts);
  std::error_code error;
  facts.rdma = std::filesystem::directory_iterator("/sys/class/infiniband", error) !=
               std::filesystem::directory_iterator();
  ProbeTopology(facts);
  return facts;
}

}  // namespace ringlet::cli
