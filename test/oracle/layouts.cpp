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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace oracle {
namespace {

constexpr const char* kHosts[] = {"oracle-a", "oracle-b"};
std::string hosts_suffix;     // of this run's namespaces; empty: there are none
std::string quota_directory;  // of this run's cgroup; empty: there is none

[[noreturn]] void Fail(const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

bool IsRoot() {
  return geteuid() == 0;
}

std::string NamespaceOf(int host) {
  return fmt::format("{}{}", kHosts[host], hosts_suffix);
}

bool Shell(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
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

// Mounts of this process alone. In a container `/` may be no mount point, and then /dev/shm or what
// it lies on is made private by itself.
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

void EnterHost(int host) {
  const std::string path = "/var/run/netns/" + NamespaceOf(host);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) Fail(path);
  close(fd);
  PrivateMounts();
  umount2("/sys", MNT_DETACH);  // the interfaces of this namespace, as `ip netns exec` shows them
  mount("oracle", "/sys", "sysfs", 0, nullptr);
  if (unshare(CLONE_NEWUTS) != 0) Fail("a host name of its own");
  if (sethostname(kHosts[host], std::strlen(kHosts[host])) != 0) Fail("sethostname");
}

void BecomeHost(const Layout& layout, int process) {
  const int host = process % 2;
  if (layout.trouble == Trouble::kTwoHosts) EnterHost(host);
  setenv("RINGLET_HOSTID", kHosts[host], 1);
}

}  // namespace

const std::vector<Layout>& Layouts() {
  using enum Trouble;
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

std::optional<std::string> WhyNot(const Layout& layout) {
  switch (layout.trouble) {
    case Trouble::kProcesses:
    case Trouble::kShmReadOnly:
    case Trouble::kShmFull: return IsRoot() ? std::nullopt : std::optional("needs root");
    case Trouble::kTwoHosts:
      return TwoHosts::exist() ? std::nullopt
                               : std::optional("needs root, the command ip, and veth");
    case Trouble::kQuota:
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
        // Each process has a rank; the others go anywhere.
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
  setenv("RINGLET_TIMEOUT", HasFault(program) ? "15" : "60", kUnlessGiven);
  setenv("RINGLET_INIT_TIMEOUT", "60", kUnlessGiven);
  if (layout.trouble != Trouble::kTwoHosts) setenv("RINGLET_SOCKET_IFNAME", "lo", 1);
  for (const std::string& setting : program.settings) {
    const std::size_t equal = setting.find('=');
    setenv(setting.substr(0, equal).c_str(), setting.substr(equal + 1).c_str(), 1);
  }
  if (layout.trouble == Trouble::kShmReadOnly || layout.trouble == Trouble::kShmFull)
    MountShm(layout.trouble == Trouble::kShmFull);
  if (layout.trouble == Trouble::kQuota &&
      !Write(quota_directory + "/cgroup.procs", std::to_string(getpid())))
    Fail(quota_directory);
  if (layout.trouble == Trouble::kBusy)
    for (unsigned core = 0; core < std::thread::hardware_concurrency(); ++core)
      if (fork() == 0) Spin();
}

void PrepareRank(const Layout& layout, const Program& program, int process) {
  Dice dice(program.seed ^ 0x11);  // not those of the drawing, which a replay does not have
  switch (layout.trouble) {
    case Trouble::kDescriptors:
      Limit(RLIMIT_NOFILE, static_cast<rlim_t>(OpenDescriptors() + dice.Between(0, 120)));
      break;
    case Trouble::kProcesses: {
      // Of a user that has nothing else: so many threads and processes as the drawn ranks, and a
      // few.
      const auto user = static_cast<uid_t>(100'000 + getpgrp());
      if (setresuid(user, user, user) != 0) Fail("another user");
      Limit(RLIMIT_NPROC, static_cast<rlim_t>(program.ranks() + dice.Between(0, 16)));
      break;
    }
    case Trouble::kAddressSpace:
      Limit(RLIMIT_AS, MappedBytes() + (static_cast<rlim_t>(dice.Between(8, 400)) << 20));
      break;
    case Trouble::kFileSize: Limit(RLIMIT_FSIZE, rlim_t{4096} << dice.Between(0, 12)); break;
    case Trouble::kReadDenied: DenyReading(EPERM); break;
    case Trouble::kReadMissing: DenyReading(ENOSYS); break;
    case Trouble::kTwoHosts:
    case Trouble::kTwoHostsLoopback: BecomeHost(layout, process); break;
    case Trouble::kMachine:
      BecomeHost(layout, process);
      setenv("RINGLET_MACHINE", ORACLE_MACHINE, 1);
      setenv("RINGLET_LOCAL_RANK", std::to_string(process / 2).c_str(), 1);
      break;
    default: break;
  }
  if (layout.start == Start::kExecFixed) personality(ADDR_NO_RANDOMIZE);
}

namespace {

// Names end in the id of the process that made them: what one that was killed has left behind.
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

TwoHosts::TwoHosts() {
  if (!IsRoot() || !Shell("ip -V")) return;
  RemoveStale("/var/run/netns", [](const std::string& name) { Shell("ip netns del " + name); });
  hosts_suffix = fmt::format("-{}", getpid());
  const std::string a = NamespaceOf(0), b = NamespaceOf(1);
  const bool made = Shell(fmt::format(
      "ip netns add {0} && ip netns add {1} && "
      "ip link add veth0 netns {0} type veth peer name veth0 netns {1} && "
      "ip -n {0} addr add 10.213.7.1/24 dev veth0 && ip -n {1} addr add 10.213.7.2/24 dev veth0 && "
      "ip -n {0} link set veth0 up && ip -n {1} link set veth0 up && "
      "ip -n {0} link set lo up && ip -n {1} link set lo up && "
      // The kernel tells up to a second later that both ends are up: till then a rank takes
      // loopback.
      "for turn in $(seq 1000); do "
      "case $(ip -n {0} link show veth0; ip -n {1} link show veth0) in "
      "*'state UP'*'state UP'*) exit 0 ;; esac; sleep 0.01; done; exit 1",
      a, b));
  if (made) return;
  Shell("ip netns del " + a);
  Shell("ip netns del " + b);
  hosts_suffix.clear();
}

TwoHosts::~TwoHosts() {
  if (hosts_suffix.empty()) return;
  for (int host = 0; host < 2; ++host) Shell("ip netns del " + NamespaceOf(host));
  hosts_suffix.clear();
}

bool TwoHosts::exist() {
  return !hosts_suffix.empty();
}

QuotaGroup::QuotaGroup() {
  const std::string name = fmt::format("/oracle-{}", getpid());
  for (const std::string root : {"/sys/fs/cgroup", "/sys/fs/cgroup/cpu"})
    RemoveStale(root.c_str(),
                [&](const std::string& stale) { rmdir((root + "/" + stale).c_str()); });
  const auto make = [&](const std::string& root, const char* file, const char* value) {
    const std::string directory = root + name;
    if (mkdir(directory.c_str(), 0755) != 0) return;
    const std::string path = directory + "/" + file;  // the kernel makes it where cgroups are
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
