#include "layouts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "testbed/net_hosts.hpp"

namespace oracle {
namespace {

constexpr const char* kHosts[] = {"oracle-a", "oracle-b", "oracle-c", "oracle-d", "oracle-e"};
constexpr std::uint32_t kSpaces = 3;
std::vector<std::string> spaces;  // paths of the network namespaces; empty if there are none
std::string no_spaces;            // the reason
std::string quota_directory;      // of this run's cgroup; empty if there is none

[[noreturn]] void Fail(const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

bool IsRoot() {
  return geteuid() == 0;
}

bool Write(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text << std::flush;
  return out.good();
}

void Limit(decltype(RLIMIT_AS) what, rlim_t value) {
  rlimit limit{};
  getrlimit(what, &limit);
  limit.rlim_cur = limit.rlim_max = std::min(value, limit.rlim_max);
  if (setrlimit(what, &limit) != 0) Fail("setrlimit");
}

int OpenDescriptors() {
  int open = 0;
  for (int fd = 0; fd < 1024; ++fd) open += fcntl(fd, F_GETFD) != -1;
  return open;
}

std::size_t MappedBytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void DenyReading(int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(filter), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) Fail("no_new_privs");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) Fail("seccomp");
}

// Creates mounts of this process alone. In a container `/` may not be a mount point. Then /dev/shm,
// or its parent mount, is made private by itself.
void PrivateMounts() {
  if (unshare(CLONE_NEWNS) != 0) Fail("a mount namespace");
  for (const char* at : {"/", "/dev", "/dev/shm"})
    mount("none", at, nullptr, MS_REC | MS_PRIVATE, nullptr);
}

void MountShm(bool full) {
  PrivateMounts();
  if (mount("oracle", "/dev/shm", "tmpfs", full ? 0 : MS_RDONLY, "size=64k") != 0)
    Fail("/dev/shm of its own");
  if (full) {
    std::ofstream filler("/dev/shm/filler");
    for (int i = 0; i < 32 && filler; ++i) filler << std::string(4096, 'x') << std::flush;
  }
}

void Spin() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (true) asm volatile("");
}

void SetHostEnvironment(const Layout& layout, int process) {
  const bool several = layout.trouble == Handicap::kSeveralHosts;
  const auto host = static_cast<std::size_t>(process) % (several ? std::size(kHosts) : 2);
  setenv("RINGLET_HOSTID", kHosts[host], 1);
  if (!several && layout.trouble != Handicap::kTwoHosts) return;
  const auto entered = ringlet::testbed::EnterNetSpace(spaces.at(host % kSpaces));
  if (!entered.ok()) throw std::runtime_error(entered.error().message);
  const auto named = ringlet::testbed::NameHost(kHosts[host]);
  if (!named.ok()) throw std::runtime_error(named.error().message);
}

}  // namespace

const std::vector<Layout>& Layouts() {
  using enum Handicap;
  static const std::vector<Layout> layouts = {
      {"fork", "processes by fork before anything used the library", Start::kFork,
       Spread::kProcesses, kNone, 1, 5, 12},
      {"fork-after-use", "processes by fork of one that used the library", Start::kForkAfterUse,
       Spread::kProcesses, kNone, 1, 5, 8},
      {"exec", "processes by exec, addresses randomised", Start::kExec, Spread::kProcesses, kNone,
       1, 5, 6},
      {"exec-fixed", "processes by exec, address randomisation off", Start::kExecFixed,
       Spread::kProcesses, kNone, 1, 5, 6},
      {"same-addresses", "all buffers of all processes at the same addresses", Start::kExec,
       Spread::kProcesses, kNone, 2, 4, 6, true},
      {"threads", "one process, a thread a rank", Start::kFork, Spread::kThreads, kNone, 1, 6, 8},
      {"one-thread", "one process, one thread, all ranks in groups", Start::kFork,
       Spread::kOneThread, kNone, 1, 5, 6},
      {"mixed", "several processes, threads and ranks a thread", Start::kForkAfterUse,
       Spread::kMixed, kNone, 3, 8, 8},
      {"oversubscribed", "many more ranks than cores", Start::kFork, Spread::kProcesses, kNone, 9,
       16, 2},
      {"busy", "an endless loop on every core beside the ranks", Start::kFork, Spread::kProcesses,
       kBusy, 2, 4, 1},
      {"quota", "a cgroup that gives all ranks together half a core", Start::kFork,
       Spread::kProcesses, kQuota, 2, 4, 1},
      {"few-descriptors", "RLIMIT_NOFILE", Start::kFork, Spread::kProcesses, kDescriptors, 2, 4, 2,
       false, true},
      {"few-processes", "RLIMIT_NPROC, not as root", Start::kFork, Spread::kMixed, kProcesses, 2, 5,
       2, false, true},
      {"little-memory", "RLIMIT_AS", Start::kFork, Spread::kProcesses, kAddressSpace, 2, 4, 2,
       false, true},
      {"small-files", "RLIMIT_FSIZE", Start::kFork, Spread::kProcesses, kFileSize, 2, 4, 2, false,
       true},
      {"read-denied", "process_vm_readv fails with EPERM", Start::kExec, Spread::kProcesses,
       kReadDenied, 2, 4, 4},
      {"read-missing", "process_vm_readv fails with ENOSYS", Start::kFork, Spread::kProcesses,
       kReadMissing, 2, 4, 4},
      {"shm-read-only", "/dev/shm is read-only", Start::kFork, Spread::kProcesses, kShmReadOnly, 2,
       4, 2},
      {"shm-full", "/dev/shm is full", Start::kFork, Spread::kProcesses, kShmFull, 2, 4, 2},
      {"two-hosts", "two hosts in network namespaces", Start::kFork, Spread::kMixed, kTwoHosts, 2,
       6, 4},
      {"two-hosts-loopback", "two host identities on one loopback interface", Start::kFork,
       Spread::kMixed, kTwoHostsLoopback, 2, 6, 6},
      {"several-hosts", "emulated hosts in three network namespaces", Start::kFork, Spread::kMixed,
       kSeveralHosts, 3, 7, 4},
      {"delayed", "service threads are stopped now and then", Start::kFork, Spread::kMixed, kNone,
       2, 6, 4, false, false, true},
      {"delayed-hosts", "the same, with two host identities", Start::kFork, Spread::kMixed,
       kTwoHostsLoopback, 2, 6, 4, false, false, true},
      {"machine", "GPUs of two hosts of a topology file, on the channels planned for them",
       Start::kFork, Spread::kProcesses, kMachine, 2, 6, 6},
  };
  return layouts;
}

const Layout* FindLayout(const std::string& name) {
  for (const Layout& layout : Layouts())
    if (name == layout.name) return &layout;
  return nullptr;
}

namespace {

/// Stops threads of other processes for this time.
/// \return false if the system does not permit it, or if all of the threads have ended
bool StopFor(const std::vector<pid_t>& threads, std::chrono::microseconds time) {
  std::vector<std::pair<pid_t, long>> stopped;  // and the signal of the same moment
  for (const pid_t thread : threads) {
    if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) continue;
    int status = 0;
    if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0 ||
        waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status))
      continue;  // it has ended, and was reaped
    const bool by_us = status >> 16 == PTRACE_EVENT_STOP;
    stopped.emplace_back(thread, by_us ? 0 : WSTOPSIG(status));
  }
  if (stopped.empty()) return false;
  std::this_thread::sleep_for(time);
  for (const auto& [thread, signal] : stopped)
    if (ptrace(PTRACE_DETACH, thread, nullptr, signal) != 0) waitpid(thread, nullptr, __WALL);
  return true;
}

bool MayStopThreads() {
  static const bool may = [] {
    const pid_t child = fork();
    if (child == 0)
      while (true) pause();
    const bool stopped = child > 0 && StopFor({child}, std::chrono::microseconds(0));
    if (child > 0) kill(child, SIGKILL);
    if (child > 0) waitpid(child, nullptr, 0);
    return stopped;
  }();
  return may;
}

/// Returns the threads that the library has started, by its name.
std::vector<pid_t> ThreadsOfLibrary(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code none;
  const std::string tasks = fmt::format("/proc/{}/task", process);
  for (const auto& entry : std::filesystem::directory_iterator(tasks, none)) {
    std::string name;
    std::ifstream(entry.path() / "comm") >> name;
    if (name.rfind("ringlet", 0) == 0) threads.push_back(std::stoi(entry.path().filename()));
  }
  return threads;
}

}  // namespace

void DelayThreads(const std::vector<pid_t>& processes, std::uint64_t seed) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Dice dice(seed ^ 0x64656c6179);
  while (true) {
    std::vector<pid_t> threads = ThreadsOfLibrary(dice.Of(processes));
    const int kind = dice.Below(8);  // the longest allow two queries of the rank's state
    const int us = kind == 0   ? dice.Between(1'000'000, 2'500'000)
                   : kind <= 2 ? dice.Between(200'000, 700'000)
                               : dice.Between(100, 20'000);
    if (!threads.empty() && dice.OneIn(2)) threads = {dice.Of(threads)};
    StopFor(threads, std::chrono::microseconds(us));
    std::this_thread::sleep_for(std::chrono::microseconds(dice.Between(1000, 30'000)));
  }
}

std::optional<std::string> WhyNot(const Layout& layout) {
  if (layout.delayed && !MayStopThreads()) return "needs the permission to trace processes";
  switch (layout.trouble) {
    case Handicap::kProcesses:
    case Handicap::kShmReadOnly:
    case Handicap::kShmFull: return IsRoot() ? std::nullopt : std::optional("needs root");
    case Handicap::kTwoHosts:
    case Handicap::kSeveralHosts: return spaces.empty() ? std::optional(no_spaces) : std::nullopt;
    case Handicap::kQuota:
      return QuotaGroup::exists() ? std::nullopt : std::optional("needs a cgroup it may write to");
    default: return std::nullopt;
  }
}

std::vector<Place> DrawPlaces(const Layout& layout, int ranks, Dice& dice) {
  std::vector<Place> places;
  const int processes = std::max(1, dice.Between(ranks / 3, ranks - 1));
  for (int rank = 0; rank < ranks; ++rank) {
    switch (layout.spread) {
      case Spread::kProcesses: places.push_back({rank, 0}); break;
      case Spread::kThreads: places.push_back({0, rank}); break;
      case Spread::kOneThread: places.push_back({0, 0}); break;
      case Spread::kMixed: {
        // Each process has a rank; the others are placed at random.
        const int process = rank < processes ? rank : dice.Below(processes);
        places.push_back({process, dice.Below(2)});
        break;
      }
    }
  }
  return places;
}

void PrepareLeader(const Layout& layout, const Program& program) {
  constexpr int kUnlessGiven = 0;
  setenv("RINGLET_DEBUG", "WARN", kUnlessGiven);
  // Ranks must learn of a killed one long before any limit. Otherwise the rank hangs.
  const char* const limit = HasKill(program) ? "300" : HasFault(program) ? "15" : "60";
  setenv("RINGLET_TIMEOUT", limit, kUnlessGiven);
  setenv("RINGLET_INIT_TIMEOUT", "60", kUnlessGiven);
  if (layout.trouble != Handicap::kTwoHosts && layout.trouble != Handicap::kSeveralHosts)
    setenv("RINGLET_SOCKET_IFNAME", "lo", 1);
  for (const std::string& setting : program.settings) {
    const std::size_t equal = setting.find('=');
    setenv(setting.substr(0, equal).c_str(), setting.substr(equal + 1).c_str(), 1);
  }
  if (layout.trouble == Handicap::kShmReadOnly || layout.trouble == Handicap::kShmFull)
    MountShm(layout.trouble == Handicap::kShmFull);
  if (layout.trouble == Handicap::kQuota &&
      !Write(quota_directory + "/cgroup.procs", std::to_string(getpid())))
    Fail(quota_directory);
  if (layout.trouble == Handicap::kBusy)
    for (unsigned core = 0; core < std::thread::hardware_concurrency(); ++core)
      if (fork() == 0) Spin();
}

void PrepareRank(const Layout& layout, const Program& program, int process) {
  if (layout.delayed) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // if Yama requires it
  Dice dice(program.seed ^ 0x11);  // differs from the drawing's, which a replay does not have
  switch (layout.trouble) {
    case Handicap::kDescriptors:
      Limit(RLIMIT_NOFILE, static_cast<rlim_t>(OpenDescriptors() + dice.Between(0, 120)));
      break;
    case Handicap::kProcesses: {
      // A user without other processes: limits for the drawn ranks, and a few more.
      const auto user = static_cast<uid_t>(100'000 + getpgrp());
      if (setresuid(user, user, user) != 0) Fail("another user");
      Limit(RLIMIT_NPROC, static_cast<rlim_t>(program.ranks() + dice.Between(0, 16)));
      break;
    }
    case Handicap::kAddressSpace:
      Limit(RLIMIT_AS, MappedBytes() + (static_cast<rlim_t>(dice.Between(8, 400)) << 20));
      break;
    case Handicap::kFileSize: Limit(RLIMIT_FSIZE, rlim_t{4096} << dice.Between(0, 12)); break;
    case Handicap::kReadDenied: DenyReading(EPERM); break;
    case Handicap::kReadMissing: DenyReading(ENOSYS); break;
    case Handicap::kTwoHosts:
    case Handicap::kSeveralHosts:
    case Handicap::kTwoHostsLoopback: SetHostEnvironment(layout, process); break;
    case Handicap::kMachine:
      SetHostEnvironment(layout, process);
      setenv("RINGLET_MACHINE", ORACLE_MACHINE, 1);
      setenv("RINGLET_LOCAL_RANK", std::to_string(process / 2).c_str(), 1);
      break;
    default: break;
  }
  if (layout.start == Start::kExecFixed) personality(ADDR_NO_RANDOMIZE);
}

namespace {

// Removes files of killed processes. Names end in the id of the process that created them.
template <typename Remove>
void RemoveStale(const char* directory, Remove remove) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    const std::string name = entry.path().filename();
    if (name.rfind("oracle-", 0) != 0) continue;
    const std::string maker = name.substr(name.rfind('-') + 1);
    if (!std::filesystem::exists("/proc/" + maker, none)) remove(name);
  }
}

}  // namespace

Hosts::Hosts() {
  auto made = ringlet::testbed::NetHosts::Make(
      {.hosts = kSpaces, .mb_per_s = 0, .delay = std::chrono::microseconds(50)});
  if (!made.ok()) {
    no_spaces = made.error().message;
    return;
  }
  hosts_ = *std::move(made);
  for (std::uint32_t host = 0; host < kSpaces; ++host) spaces.push_back(hosts_->SpacePath(host));
}

Hosts::~Hosts() {
  spaces.clear();
}

QuotaGroup::QuotaGroup() {
  const std::string name = fmt::format("/oracle-{}", getpid());
  for (const std::string root : {"/sys/fs/cgroup", "/sys/fs/cgroup/cpu"})
    RemoveStale(root.c_str(),
                [&](const std::string& stale) { rmdir((root + "/" + stale).c_str()); });
  const auto make = [&](const std::string& root, const char* file, const char* value) {
    const std::string directory = root + name;
    if (mkdir(directory.c_str(), 0755) != 0) return;
    const std::string path = directory + "/" + file;  // the kernel creates it in a cgroup
    if (access(path.c_str(), W_OK) == 0 && Write(path, value)) {
      quota_directory = directory;
    } else {
      rmdir(directory.c_str());
    }
  };
  make("/sys/fs/cgroup", "cpu.max", "50000 100000");  // version 2, and version 1
  if (quota_directory.empty()) make("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "50000");
}

QuotaGroup::~QuotaGroup() {
  if (quota_directory.empty()) return;
  rmdir(quota_directory.c_str());
  quota_directory.clear();
}

bool QuotaGroup::exists() {
  return !quota_directory.empty();
}

}  // namespace oracle
