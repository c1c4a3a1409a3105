// The state that the ranks of one process share: settings, log, facts about the machine, and the
// service threads that drive all control connections. Created by the front ends and passed down,
// never a global.
#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/settings/env_map.hpp"
#include "base/settings/settings.hpp"
#include "base/wire/handshake.hpp"
#include "bootstrap/root.hpp"
#include "collective/select/tuning_table.hpp"
#include "collective/shm/in_process_buffers.hpp"
#include "comm/plugin/profiler.hpp"
#include "comm/plugin/tuner.hpp"
#include "comm/process/ras_port.hpp"
#include "comm/process/registered_heap.hpp"
#include "comm/service/service.hpp"
#include "comm/service/watched.hpp"
#include "discovery/scan.hpp"
#include "os/driver/socket_driver.hpp"
#include "os/fs/file_tree.hpp"
#include "os/fs/log_sink.hpp"
#include "os/net/interface_filter.hpp"
#include "os/process/host.hpp"
#include "plan/search/given_graphs.hpp"
#include "topology/view/cpu_set.hpp"
#include "transport/inproc/inproc.hpp"
#include "transport/wireup/shared_listeners.hpp"

namespace ringlet::comm {

class Process {
 public:
  /// Reads the settings from `environment` and files, identifies the host, and starts the service
  /// thread. Errors  kInvalidArgument  a setting; kSystem  no descriptors, no random source.
  static Result<std::shared_ptr<Process>> Start(const EnvMap& environment,
                                                const FileVariables& conf_files = {});
  /// Uses the configuration files that `environment` names.
  static Result<std::shared_ptr<Process>> StartIn(const EnvMap& environment);
  /// Uses this process's own environment, read now.
  /// \param overrides  variables that replace those of the same name
  static Result<std::shared_ptr<Process>> StartHere(const EnvMap& overrides = {});
  /// Like StartHere, but the service thread starts when a thread without a lease of the driver
  /// posts work to it, or when a lease ends. No status socket exists until then. If a setting
  /// requires work outside of communicators, the thread starts at once.
  static Result<std::shared_ptr<Process>> PrepareHere();
  /// Reads facts that do not change while the machine runs, so that the first operation need not.
  /// For use when a library is loaded. Processes that are forked later have the facts too. Cost a
  /// tenth of a millisecond.
  static void CacheHostFacts();
  /// Stops the service threads, and cuts off any remaining communicators and unused ids.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const Settings& settings() const { return settings_; }
  const os::Host& host() const { return host_; }
  /// Returns os::NetNamespace of `listeners` of this process.
  std::uint64_t NetNamespaceOf(const transport::ListenerSet& listeners) const;
  const os::FileTree& files() const { return files_; }
  os::Logger& logger() { return logger_; }
  /// Returns the driver of the first service thread, which always exists.
  os::SocketDriver& driver() { return first_->driver(); }
  /// Lends the driver to the calling thread, if the service thread does not run yet. \param ranks
  /// of the communicator to form; if each may have a core, the driver spins before it sleeps
  os::SocketDriver::Lease Borrow(std::uint32_t ranks);
  /// Returns true if waiting ranks may spin, as far as this is known before the other ranks are.
  bool MaySpin(std::uint32_t ranks) const;
  transport::InprocExchange& inproc() { return inproc_; }
  /// The addresses of the ranks and roots of this process.
  transport::SharedListeners& endpoints() { return *endpoints_; }
  const transport::SharedListeners& endpoints() const { return *endpoints_; }
  RegisteredHeap& heap() { return heap_; }
  /// Returns the table through which the ranks of a communicator in this process find each other's
  /// buffers. The same for all of them. \param secret of the communicator
  std::shared_ptr<collective::InProcessBuffers> InProcessBuffersOf(const Secret& secret,
                                                                   std::uint32_t ranks);

  /// Equal on two ranks of the same host. RINGLET_HOSTID, if set, replaces name and boot id.
  std::uint64_t host_hash() const { return host_hash_; }
  /// Equal on two ranks that share this object, and so can share pointers.
  std::uint64_t process_hash() const { return process_hash_; }

  /// Forming a communicator takes a few milliseconds and needs the addresses five times. A host's
  /// addresses may change in the life of a process.
  static constexpr std::chrono::seconds kInterfacesFresh{10};
  /// Returns this host's addresses, best first: those that other hosts can use, or all if none is
  /// usable. At most kInterfacesFresh old. Errors  kInvalidArgument  RINGLET_SOCKET_IFNAME excludes
  /// all
  /// \param alone  a rank without others needs no network: 127.0.0.1 if no interface exists
  Result<std::vector<os::UsableAddress>> ReachableInterfaces(bool alone = false);
  /// Returns the same without their names.
  Result<std::vector<Address>> ReachableAddresses(bool alone = false);

  /// The service thread of a rank of this process.
  struct ServiceSlot {
    Service& service;
    std::shared_ptr<const void> taken;  ///< held as long as the thread serves the rank
  };
  /// Returns a place for one more rank. Starts another service thread if each existing one has many
  /// ranks and cores are available. A process with one rank has one thread.
  ServiceSlot ReserveService();
  /// Returns the counts of all service threads together. Waits for each of them.
  os::SocketDriver::Counters ReadCounters();

  /// Returns how often this process lacked descriptors while it read the machine or accepted
  /// callers. Any thread.
  std::uint64_t shortages() const;

  /// Returns a function that knows the processes of this host. Valid as long as this lives.
  bootstrap::IsStopped is_stopped() const;

  /// Returns the number of cores that this process may run on.
  std::uint32_t usable_cores() const { return usable_cores_; }
  /// Returns this host as it was at the first call of a rank of this process. \param devices
  /// include NICs and GPUs. Errors  as discovery::Scan, which is then retried
  Result<discovery::HostScan> ScanHost(bool devices);
  /// The contents of RINGLET_TUNE_FILE.
  const collective::TuningTable& measured_choices() const { return measured_choices_; }
  /// The contents of RINGLET_GRAPH_FILE.
  const plan::GraphText& graphs() const { return graphs_; }

  /// Moves the service threads near a rank at `numa_node`: to `cpus` and the CPUs of other ranks'
  /// calls. Other threads are not moved. Does nothing if `cpus` is empty.
  void MoveServicesNear(const topology::CpuSet& cpus, std::uint32_t numa_node);

  /// Returns how many unauthenticated callers one machine may hold: at most `wanted`, and few
  /// enough to leave descriptors for the others.
  std::size_t HalfOpenMax(std::size_t wanted) const;

  /// Runs `work` on the first service thread after `wait`, unless this ends before. Any thread.
  void After(std::chrono::milliseconds wait, std::function<void()> work);

  /// After this time, a new communicator has probably completed its first sum, which another thread
  /// would delay.
  static constexpr std::chrono::milliseconds kFencesAfter{20};
  /// Joins the fences of other processes after kFencesAfter, on a thread, because that takes some
  /// milliseconds. Any thread, any number of times.
  void JoinRemoteFences();

  /// Returns true at the first call only: RINGLET_UNIQUE_ID is then to be used.
  bool TakeGivenId() { return !given_id_taken_.exchange(true); }
  /// Returns true at the first call only: for the job's first communicator of all ranks.
  bool ClaimJobId() { return !job_id_claimed_.exchange(true); }

  /// Logs a warning or a note once per text.
  void WarnOnce(const std::string& text) { LogOnce(LogLevel::kWarn, text); }
  void NoteOnce(const std::string& text) { LogOnce(LogLevel::kInfo, text); }

  /// Returns the plug-in that observes operations, or null. Loaded at the first call.
  ProfilerPlugin* profiler();
  /// Returns the plug-in that selects algorithms in the same way.
  TunerPlugin* tuner();

  /// Makes `watched` visible to tools that inspect this process, as long as it lives.
  void Watch(const std::shared_ptr<Watched>& watched);
  /// Returns the live ones. Any thread.
  std::vector<std::shared_ptr<Watched>> watched();
  /// Passes the counters of this process and its communicators to `done`, later and on a service
  /// thread. Any thread.
  void ReadMetrics(std::function<void(const watch::ProcessMetrics&)> done);
  /// Writes METRICS_FILE, if set, and waits for that. Not on a service thread.
  void WriteMetrics();

  /// Maximum number of roots of unused ids, where no rank has checked in.
  static constexpr std::size_t kUnusedRootsMax = 4096;
  /// Runs a root on the first service thread until it has finished. Beyond kUnusedRootsMax unused
  /// roots, the oldest is dropped.
  void HostRoot(const std::shared_ptr<bootstrap::Root>& root, os::Hosted hosted);
  /// Makes the root of that id, if it is here, refuse its callers with the reason. Any thread.
  void RefuseAtRoot(std::uint64_t magic, bootstrap::Failure why);

 private:
  Process(Settings settings, os::Host host, os::FileTree files, std::uint64_t process_hash);
  static Result<std::shared_ptr<Process>> Make(const EnvMap& environment,
                                               const FileVariables& conf_files);
  void Keep(std::unique_ptr<Service> service);
  Status AddService();
  Status PrepareService();
  bool NeedsServiceAtStart() const;
  void Serve();
  void Show();
  void ShowLater();
  void ForgetUnusedRoots();
  void LogOnce(LogLevel level, const std::string& text);
  void OpenStatusSocket();
  void OpenRas();
  void PollDumpSignal();
  void WriteMetricsFile(const watch::ProcessMetrics& metrics);

  const Settings settings_;
  const os::Host host_;
  const os::FileTree files_;
  os::Logger logger_;
  const std::uint64_t host_hash_;
  const std::uint64_t process_hash_;
  std::uint32_t usable_cores_ = 1;
  collective::TuningTable measured_choices_;
  plan::GraphText graphs_;
  std::uint64_t descriptors_max_ = 0;
  std::atomic<bool> given_id_taken_{false};
  std::atomic<bool> job_id_claimed_{false};
  std::mutex scans_mutex_;
  std::optional<discovery::HostScan> scans_[2];  // without devices, and with them
  std::vector<os::UsableAddress> interfaces_;    // empty: not read yet
  Instant interfaces_read_at_{0};
  std::mutex warned_mutex_;
  std::set<std::string> warned_;
  transport::InprocExchange inproc_;
  RegisteredHeap heap_;
  std::mutex in_process_buffers_mutex_;
  std::map<Secret, std::weak_ptr<collective::InProcessBuffers>> in_process_buffers_;
  std::mutex watched_mutex_;
  std::vector<std::weak_ptr<Watched>> watched_;
  std::unique_ptr<RasPort> ras_;  // null: off
  std::once_flag loads_profiler_once_;
  std::unique_ptr<ProfilerPlugin> profiler_;  // null: none
  std::once_flag loads_tuner_once_;
  std::unique_ptr<TunerPlugin> tuner_;  // null: none
  struct Neighbourhood {
    topology::CpuSet cpus;
    std::uint32_t numa_node = 0;
    bool operator==(const Neighbourhood&) const = default;
  };
  struct Hosting {
    std::weak_ptr<bootstrap::Root> root;
    os::SocketDriver::Id id;
  };
  std::deque<Hosting> roots_;          // owned by the first service thread; oldest first
  mutable std::mutex services_mutex_;  // guards the next two
  std::vector<Neighbourhood> near_;    // places of ranks; each place once
  std::vector<std::unique_ptr<Service>> services_;
  Service* first_ = nullptr;
  std::unique_ptr<transport::SharedListeners> endpoints_;  // destroyed before the services
  std::atomic<bool> shows_later_{false};
  std::once_flag shows_once_;
  std::once_flag joins_fences_once_;
  std::jthread joins_fences_;
};

}  // namespace ringlet::comm
