// Layouts: the start of a program's ranks, their places, and the limits of the system.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dice.hpp"
#include "program.hpp"

namespace ringlet::testbed {
class NetHosts;
}

namespace oracle {

/// The start of rank processes.
enum class Start {
  kFork,          ///< from a process that has not used the library
  kForkAfterUse,  ///< from a process that has formed, used and ended a communicator
  kExec,          ///< a fresh program each
  kExecFixed      ///< the same, without address randomization
};

/// The distribution of ranks over processes and threads.
enum class Spread { kProcesses, kThreads, kOneThread, kMixed };

/// The system's limits on the ranks.
enum class Handicap {
  kNone,
  kBusy,              ///< an endless loop on every core beside them
  kQuota,             ///< a cgroup with half a core for them
  kDescriptors,       ///< RLIMIT_NOFILE
  kProcesses,         ///< RLIMIT_NPROC, as another user than root
  kAddressSpace,      ///< RLIMIT_AS
  kFileSize,          ///< RLIMIT_FSIZE
  kReadDenied,        ///< process_vm_readv: EPERM, by seccomp
  kReadMissing,       ///< process_vm_readv: ENOSYS
  kShmReadOnly,       ///< /dev/shm is mounted read-only
  kShmFull,           ///< /dev/shm is full
  kTwoHosts,          ///< two network namespaces with host names of their own
  kSeveralHosts,      ///< three network namespaces with up to two host identities in each
  kTwoHostsLoopback,  ///< two host identities on one loopback interface: needs no rights
  kMachine            ///< the same, and ranks play the GPUs of two hosts of a topology file
};

struct Layout {
  const char* name;
  const char* what;
  Start start = Start::kFork;
  Spread spread = Spread::kProcesses;
  Handicap trouble = Handicap::kNone;
  int ranks_min = 1, ranks_max = 5;
  int weight = 4;            ///< share of a run, relative to all layouts
  bool same_places = false;  ///< all buffers of all processes at the same addresses
  /// Accepts an error of the library, because it may lack a resource; the error ends the program.
  /// Wrong results, crashes and hangs are failures all the same.
  bool may_refuse = false;
  /// Stops the library's threads now and then, for up to 2.5 s.
  bool delayed = false;
};

const std::vector<Layout>& Layouts();
const Layout* FindLayout(const std::string& name);

/// Returns the reason why this machine or user cannot have the layout; empty if it can.
std::optional<std::string> WhyNot(const Layout& layout);

/// Draws processes and threads for this number of ranks.
std::vector<Place> DrawPlaces(const Layout& layout, int ranks, Dice& dice);

/// Prepares the process that starts the ranks, before the start. Throws std::runtime_error.
void PrepareLeader(const Layout& layout, const Program& program);
/// Prepares each rank's process before it uses the library.
void PrepareRank(const Layout& layout, const Program& program, int process);

/// Stops and continues the library's threads in `processes`, drawn by `seed`, until the parent of
/// the calling process ends. Call it in a child process.
[[noreturn]] void DelayThreads(const std::vector<pid_t>& processes, std::uint64_t seed);

/// Hosts in network namespaces, during the lifetime of this object. If the system does not permit
/// them, their layouts are not available.
class Hosts {
 public:
  Hosts();
  ~Hosts();
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

 private:
  std::unique_ptr<ringlet::testbed::NetHosts> hosts_;
};

/// The cgroup of quota layouts, likewise.
class QuotaGroup {
 public:
  QuotaGroup();
  ~QuotaGroup();
  QuotaGroup(const QuotaGroup&) = delete;
  QuotaGroup& operator=(const QuotaGroup&) = delete;
  static bool exists();
};

}  // namespace oracle
