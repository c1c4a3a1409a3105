// Judges each host by itself.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/judge.hpp"

namespace ringlet::doctor {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
// Docker's default is 64 MiB; PyTorch's data loaders and NCCL need more.
constexpr std::uint64_t kShmMin = 128 * kMiB;
constexpr std::uint64_t kShmFreeMin = 64 * kMiB;
constexpr std::uint64_t kMemoryMin = kGiB / 2;
constexpr std::uint64_t kLockedMin = kGiB;
constexpr std::uint64_t kDescriptorsMin = 4096;  // five per rank of one process, and its peers
constexpr std::uint64_t kTasksMin = 512;         // free tasks for threads and ranks
constexpr std::uint32_t kPortsMin = 1024;

/// Adds the finding of `judge` for a host, if there is one.
template <class Judgement>
CheckReport OfEach(std::string_view check, const SetFacts& facts, const Judgement& judge) {
  CheckReport report{.check = check, .seen = {}};
  for (const HostFacts& host : facts.hosts) judge(host, report.findings);
  return report;
}

template <class Number>
auto LeastOf(const SetFacts& facts, const Number& number) {
  auto least = number(facts.hosts.front());
  for (const HostFacts& host : facts.hosts) least = std::min(least, number(host));
  return least;
}

CheckReport Shm(const SetFacts& facts) {
  const auto judge = [](const HostFacts& host, std::vector<HostFinding>& findings) {
    const ShmReport& shm = host.shm;
    constexpr std::string_view kNeeds = "PyTorch's data loaders, NCCL and MPI fail or crash";
    constexpr std::string_view kCure =
        "docker run --shm-size=8g, a memory-backed emptyDir at /dev/shm in Kubernetes, or "
        "mount -o remount,size=8g /dev/shm";
    if (!shm.failure.empty()) {
      findings.push_back({.verdict = FindingVerdict::kError,
                          .host = host.host,
                          .reason = fmt::format("/dev/shm cannot be written: {}", shm.failure),
                          .cost = std::string(kNeeds),
                          .cure = "mount a tmpfs at /dev/shm that every user may write"});
      return;
    }
    if (shm.bytes >= kShmMin && shm.free_bytes >= kShmFreeMin) return;
    findings.push_back({.verdict = FindingVerdict::kWarning,
                        .host = host.host,
                        .reason = fmt::format("/dev/shm has {}, {} of them free",
                                              BytesText(shm.bytes), BytesText(shm.free_bytes)),
                        .cost = fmt::format("{}; Ringlet itself does not use it", kNeeds),
                        .cure = shm.bytes < kShmMin
                                    ? std::string(kCure)
                                    : "remove the files that ended jobs left in /dev/shm",
                        .evidence = {{"bytes", shm.bytes}, {"free_bytes", shm.free_bytes}}});
  };
  CheckReport report = OfEach("shm", facts, judge);
  report.seen = fmt::format(
      "at least {} of /dev/shm are free",
      BytesText(LeastOf(facts, [](const HostFacts& host) { return host.shm.free_bytes; })));
  return report;
}

std::uint64_t MemoryLeft(const HostFacts& host) {
  const MemoryReport& memory = host.memory;
  if (memory.limit_bytes == kUnlimited) return memory.available_bytes;
  const std::uint64_t left =
      memory.limit_bytes > memory.used_bytes ? memory.limit_bytes - memory.used_bytes : 0;
  return std::min(left, memory.available_bytes);
}

CheckReport Memory(const SetFacts& facts) {
  const auto judge = [](const HostFacts& host, std::vector<HostFinding>& findings) {
    const std::uint64_t left = MemoryLeft(host);
    if (left >= kMemoryMin) return;
    const bool limited = host.memory.limit_bytes < host.memory.total_bytes;
    findings.push_back(
        {.verdict = FindingVerdict::kWarning,
         .host = host.host,
         .reason = fmt::format("{} of memory are left{}", BytesText(left),
                               limited ? fmt::format(" of the {} of its control group",
                                                     BytesText(host.memory.limit_bytes))
                                       : ""),
         .cost = "the kernel kills ranks when the memory is used up",
         .cure = limited ? "raise the memory limit of the container or job"
                         : "end the processes that use the memory",
         .evidence = {{"left_bytes", left}, {"limit_bytes", host.memory.limit_bytes}}});
  };
  CheckReport report = OfEach("memory", facts, judge);
  report.seen =
      fmt::format("at least {} of memory are left", BytesText(LeastOf(facts, MemoryLeft)));
  return report;
}

void JudgeLimits(const HostFacts& host, std::vector<HostFinding>& findings) {
  const LimitReport& limits = host.limits;
  if (limits.descriptors < kDescriptorsMin)
    findings.push_back(
        {.verdict = FindingVerdict::kWarning,
         .host = host.host,
         .reason = fmt::format("a process may open only {} files", limits.descriptors),
         .cost = "ranks of large jobs fail to connect",
         .cure = "raise the hard limit: nofile in /etc/security/limits.conf, "
                 "LimitNOFILE of the service, docker run --ulimit nofile=65536",
         .evidence = {{"descriptors", limits.descriptors}}});
  if (host.rdma && limits.locked_bytes < kLockedMin)
    findings.push_back(
        {.verdict = FindingVerdict::kWarning,
         .host = host.host,
         .reason = fmt::format("only {} of memory may be locked, but the host has RDMA devices",
                               BytesText(limits.locked_bytes)),
         .cost = "verbs and libfabric cannot register memory: they fail or fall "
                 "back to TCP",
         .cure = "raise memlock to unlimited in /etc/security/limits.conf, for the "
                 "daemon of the launcher too; docker run --ulimit memlock=-1",
         .evidence = {{"locked_bytes", limits.locked_bytes}}});
  const std::uint64_t left = limits.tasks == kUnlimited         ? kUnlimited
                             : limits.tasks > limits.tasks_used ? limits.tasks - limits.tasks_used
                                                                : 0;
  const std::uint64_t most = std::min(left, limits.processes);
  if (most < kTasksMin)
    findings.push_back(
        {.verdict = FindingVerdict::kWarning,
         .host = host.host,
         .reason = fmt::format("only {} more processes and threads are allowed", most),
         .cost = "ranks fail to start threads",
         .cure = left < limits.processes ? "raise pids.max of the control group: docker run "
                                           "--pids-limit, TasksMax of the service"
                                         : "raise nproc in /etc/security/limits.conf",
         .evidence = {{"processes", limits.processes}, {"tasks_left", left}}});
}

CheckReport Limits(const SetFacts& facts) {
  CheckReport report = OfEach("limits", facts, JudgeLimits);
  const auto descriptors =
      LeastOf(facts, [](const HostFacts& host) { return host.limits.descriptors; });
  const auto locked =
      LeastOf(facts, [](const HostFacts& host) { return host.limits.locked_bytes; });
  report.seen = fmt::format("{} open files, {} of locked memory",
                            descriptors == kUnlimited ? "any" : std::to_string(descriptors),
                            locked == kUnlimited ? "any amount" : BytesText(locked));
  return report;
}

std::string PeerMemoryCure(const PeerMemoryReport& memory) {
  if (memory.ptrace_scope.value_or(0) > 0) return "sysctl -w kernel.yama.ptrace_scope=0";
  return "allow process_vm_readv in the seccomp profile of the container, or give it SYS_PTRACE; "
         "run all ranks of a host as one user";
}

CheckReport PeerMemory(const SetFacts& facts) {
  const auto judge = [](const HostFacts& host, std::vector<HostFinding>& findings) {
    const PeerMemoryReport& memory = host.peer_memory;
    if (memory.permitted) return;
    findings.push_back(
        {.verdict = FindingVerdict::kNote,
         .host = host.host,
         .reason = fmt::format(
             "a rank may not read the memory of another rank (process_vm_readv: {}{})", memory.why,
             memory.ptrace_scope ? fmt::format(", ptrace_scope {}", *memory.ptrace_scope) : ""),
         .cost = "large messages within the host are copied twice, through shared memory",
         .cure = PeerMemoryCure(memory),
         .evidence = {}});
  };
  CheckReport report = OfEach("peer-memory", facts, judge);
  report.seen = "ranks of a host may read each other's memory";
  return report;
}

CheckReport HugePages(const SetFacts& facts) {
  CheckReport report{.check = "huge-pages", .seen = {}};
  const HugePageReport& pages = facts.hosts.front().huge_pages;
  const bool alike = std::ranges::all_of(facts.hosts, [&](const HostFacts& host) {
    return host.huge_pages.transparent == pages.transparent && host.huge_pages.total == pages.total;
  });
  report.seen = fmt::format("transparent {}, {} reserved",
                            pages.transparent.empty() ? "none" : pages.transparent, pages.total);
  if (alike) return report;
  for (const HostFacts& host : facts.hosts)
    if (host.huge_pages.transparent != pages.transparent || host.huge_pages.total != pages.total)
      report.findings.push_back(
          {.verdict = FindingVerdict::kNote,
           .host = host.host,
           .reason = fmt::format(
               "huge pages: transparent {}, {} reserved; {} has {} and {}",
               host.huge_pages.transparent.empty() ? "none" : host.huge_pages.transparent,
               host.huge_pages.total, facts.hosts.front().host,
               pages.transparent.empty() ? "none" : pages.transparent, pages.total),
           .cost = "copies of large buffers may differ in speed between the hosts",
           .cure = "set /sys/kernel/mm/transparent_hugepage/enabled and vm.nr_hugepages alike",
           .evidence = {{"reserved", host.huge_pages.total}}});
  return report;
}

/// Returns hundredths of a core.
std::uint64_t CoresPercent(const HostFacts& host) {
  const std::uint64_t usable = std::uint64_t{host.cpus.usable} * kPercent;
  return host.cpus.quota_percent ? std::min<std::uint64_t>(usable, *host.cpus.quota_percent)
                                 : usable;
}

void JudgeCpus(const HostFacts& host, std::vector<HostFinding>& findings) {
  const CpuReport& cpus = host.cpus;
  const std::uint64_t cores = CoresPercent(host);
  const std::uint64_t wanted = std::uint64_t{std::max(host.ranks, 1u)} * kPercent;
  if (cores >= wanted) return;
  const bool quota = cpus.quota_percent && *cpus.quota_percent < cpus.usable * kPercent;
  findings.push_back(
      {.verdict = FindingVerdict::kWarning,
       .host = host.host,
       .reason =
           fmt::format("{}.{:02} cores for {}: {}", cores / kPercent, cores % kPercent,
                       host.ranks > 1 ? fmt::format("{} ranks", host.ranks) : "a rank",
                       quota ? "its control group limits them"
                             : fmt::format("{} of {} cores are usable", cpus.usable, cpus.online)),
       .cost = quota ? "all ranks pause when the quota of a period is used up, by default for up "
                       "to 100 ms"
                     : "ranks share cores: small operations wait for the scheduler",
       .cure = quota
                   ? "raise cpu.max of the control group: docker run --cpus, limits.cpu of the pod"
                   : "start fewer ranks, or widen the binding (mpirun --bind-to, srun "
                     "--cpus-per-task, cpuset of the container)",
       .evidence = {{"cores_percent", cores},
                    {"usable", cpus.usable},
                    {"online", cpus.online},
                    {"ranks", host.ranks}}});
}

CheckReport Cpus(const SetFacts& facts) {
  CheckReport report = OfEach("cpus", facts, JudgeCpus);
  const std::uint64_t cores = LeastOf(facts, CoresPercent);
  report.seen = fmt::format("at least {}.{:02} cores", cores / kPercent, cores % kPercent);
  return report;
}

/// Returns 0 if the kernel does not report them.
std::uint32_t PortsOf(const PortReport& ports) {
  return ports.last > 0 && ports.last >= ports.first ? ports.last - ports.first + 1 : 0;
}
std::uint32_t PortsLeft(const PortReport& ports) {
  const std::uint32_t all = PortsOf(ports);
  return all > ports.used ? all - ports.used : 0;
}

void JudgePorts(const HostFacts& host, std::vector<HostFinding>& findings) {
  const PortReport& ports = host.ports;
  const std::uint32_t all = PortsOf(ports), left = PortsLeft(ports);
  const std::map<std::string, std::uint64_t> evidence = {
      {"first", ports.first}, {"last", ports.last}, {"used", ports.used}};
  constexpr std::string_view kCure =
      "end the processes that hold them (ss -tan), or widen the range: sysctl -w "
      "net.ipv4.ip_local_port_range=\"15000 64999\"";
  if (!ports.failure.empty())
    findings.push_back({.verdict = FindingVerdict::kError,
                        .host = host.host,
                        .reason = fmt::format("no port between {} and {} is free: {}", ports.first,
                                              ports.last, ports.failure),
                        .cost = "ranks can neither listen nor connect",
                        .cure = std::string(kCure),
                        .evidence = evidence});
  else if (all > 0 && left < kPortsMin)
    findings.push_back({.verdict = FindingVerdict::kWarning,
                        .host = host.host,
                        .reason = fmt::format("only {} ports between {} and {} are free", left,
                                              ports.first, ports.last),
                        .cost = "ranks cannot connect when no port is left",
                        .cure = std::string(kCure),
                        .evidence = evidence});
}

CheckReport Ports(const SetFacts& facts) {
  CheckReport report = OfEach("ports", facts, JudgePorts);
  report.seen =
      fmt::format("at least {} ports are free",
                  LeastOf(facts, [](const HostFacts& host) { return PortsLeft(host.ports); }));
  return report;
}

FindingVerdict VerdictOf(std::string_view severity) {
  if (severity == "error") return FindingVerdict::kError;
  return severity == "warning" ? FindingVerdict::kWarning : FindingVerdict::kNote;
}

CheckReport Topology(const SetFacts& facts) {
  const auto judge = [&](const HostFacts& host, std::vector<HostFinding>& findings) {
    for (const MachineDefect& defect : host.defects)
      findings.push_back(
          {.verdict = VerdictOf(defect.severity),
           .host = host.host,
           .reason = fmt::format("{}{}{} [{}]", defect.where, defect.where.empty() ? "" : ": ",
                                 defect.reason, defect.rule),
           .cost = "ringlet topo check on that host shows the cost",
           .cure = defect.cure,
           .evidence = {}});
  };
  CheckReport report = OfEach("topology", facts, judge);
  const std::uint32_t gpus = facts.hosts.front().gpus;
  for (const HostFacts& host : facts.hosts)
    if (host.gpus != gpus)
      report.findings.push_back(
          {.verdict = FindingVerdict::kWarning,
           .host = host.host,
           .reason =
               fmt::format("{} GPUs, and {} has {}", host.gpus, facts.hosts.front().host, gpus),
           .cost = "a job with equally many ranks on each host does not start",
           .cure = "run ringlet topo check on both hosts",
           .evidence = {{"gpus", host.gpus}}});
  report.seen = gpus == 0 ? "no GPUs to judge" : fmt::format("{} GPUs on each host", gpus);
  return report;
}

}  // namespace

std::vector<CheckReport> JudgeHosts(const SetFacts& facts) {
  if (facts.hosts.empty()) return {};
  return {Ports(facts),      Shm(facts),       Memory(facts), Limits(facts),
          PeerMemory(facts), HugePages(facts), Cpus(facts),   Topology(facts)};
}

}  // namespace ringlet::doctor
