// The state that the ranks of one process share: settings, log, the machine they run on, and the
// service threads that drive all control connections. Made at the edge and passed down; never a
// global.
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
  /// Reads the settings out of `environment` and files, finds out where it runs, starts the service
  /// thread. Errors  kInvalidArgument  a setting; kSystem  no descriptors, no random source.
  static Result<std::shared_ptr<Process>> Start(const EnvMap& environment,
                                                const FileVariables& conf_files = {});
  /// The same, with the configuration files that `environment` leads to.
  static Result<std::shared_ptr<Process>> StartIn(const EnvMap& environment);
  /// That with this process's own environment, read now.
  /// \param overrides  variables that stand in for those of the same name
  static Result<std::shared_ptr<Process>> StartHere(const EnvMap& overrides = {});
  /// The same with a service thread that starts when a thread without a loan of the driver posts
  /// work to it, or a loan ends. Until then there is no status socket. A setting that wants
  /// something done beside communicators has it start at once.
  static Result<std::shared_ptr<Process>> PrepareHere();
  /// Looks at what stays as it is while the machine runs, for the first operation not to: when a
  /// library is loaded, say. Processes that are forked afterwards know it, too. Cost a tenth of a
  /// millisecond.
  static void LookAtMachine();
  /// Stops the service threads; communicators and unused ids must be gone or are cut off.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const Settings& settings() const { return settings_; }
  const os::Host& host() const { return host_; }
  /// Of `listeners` of this process, as os::NetNamespace has it.
  std::uint64_t NetNamespaceOf(const transport::ListenerSet& listeners) const;
  const os::FileTree& files() const { return files_; }
  os::Logger& logger() { return logger_; }
  /// Of the first service thread, which there always is.
  os::SocketDriver& driver() { return first_->driver(); }
  /// Lends it to the calling thread, if the service thread does not run yet. \param ranks  of the
  /// communicator that it will form: if each of them may have a core it spins before it sleeps
  os::SocketDriver::Loan Borrow(std::uint32_t ranks);
  /// Whether ranks that wait may spin, as far as one can tell before the others are known.
  bool MaySpin(std::uint32_t ranks) const;
  transport::InprocExchange& inproc() { return inproc_; }
  /// The addresses of the ranks and roots of this process.
  transport::SharedListeners& endpoints() { return *endpoints_; }
  const transport::SharedListeners& endpoints() const { return *endpoints_; }
  RegisteredHeap& heap() { return heap_; }
  /// The table through which ranks of a communicator in this process find each other's buffers; the
  /// same for all of them. \param secret of the communicator
  std::shared_ptr<collective::InProcessBuffers> InProcessBuffersOf(const Secret& secret,
                                                                   std::uint32_t ranks);

  /// The same on two ranks when they run on the same host. RINGLET_HOSTID stands in for name and
  /// boot id where it is set.
  std::uint64_t host_hash() const { return host_hash_; }
  /// The same on two ranks when they share this object, and so can share pointers.
  std::uint64_t process_hash() const { return process_hash_; }

  /// Forming a communicator takes a few milliseconds and asks five times; what a host is called
  /// may change in the life of a process.
  static constexpr std::chrono::seconds kInterfacesFresh{10};
  /// This host's addresses, best first: those that other hosts can use, or, when there are none,
  /// all. As they were at most kInterfacesFresh ago. Errors  kInvalidArgument
  /// RINGLET_SOCKET_IFNAME lets nothing pass.
  /// \param alone  a rank without others needs no network: 127.0.0.1 if there is no interface
  Result<std::vector<os::UsableAddress>> ReachableInterfaces(bool alone = false);
  /// The same without their names.
  Result<std::vector<Address>> ReachableAddresses(bool alone = false);

  /// The service thread of a rank of this process.
  struct Seat {
    Service& service;
    std::shared_ptr<const void> taken;  ///< to be held as long as the rank is served there
  };
  /// A place for one more rank. Starts another service thread where those that run have many ranks
  /// each and there are cores for more; a process with one rank has one.
  Seat TakeSeat();
  /// Counts of all service threads together. Waits for each of them.
  os::SocketDriver::Counters ReadCounters();

  /// How often this process was out of descriptors while it looked around or was called. Any
  /// thread.
  std::uint64_t shortages() const;

  /// Knows the processes of this host. Valid as long as this lives.
  bootstrap::IsStopped is_stopped() const;

  /// Cores that this process may run on.
  std::uint32_t usable_cores() const { return usable_cores_; }
  /// This host as it was when a rank of this process first asked. \param devices  NICs and GPUs,
  /// too Errors  as discovery::Scan, which is then tried again
  Result<discovery::HostScan> ScanHost(bool devices);
  /// The contents of RINGLET_TUNE_FILE.
  const collective::TuningTable& measured_choices() const { return measured_choices_; }
  /// The contents of RINGLET_GRAPH_FILE.
  const plan::GraphText& graphs() const { return graphs_; }

  /// Has the service threads run near a rank that lives at `numa_node`: on `cpus`, and on those
  /// that they were told of for other ranks. No other thread is moved. Does nothing where `cpus` is
  /// empty.
  void ServeNear(const topology::CpuSet& cpus, std::uint32_t numa_node);

  /// How many callers that have proven nothing one machine may hold: at most `wanted`, and so few
  /// that they leave descriptors for the others.
  std::size_t HalfOpenMax(std::size_t wanted) const;

  /// Runs `work` on the first service thread when `wait` has passed, unless this ends before. Any
  /// thread.
  void After(std::chrono::milliseconds wait, std::function<void()> work);

  /// From when on a rank that has just formed a communicator is likely to have had its first sum,
  /// which another thread would delay.
  static constexpr std::chrono::milliseconds kFencesAfter{20};
  /// Begins to take part in the fences of other processes after kFencesAfter, on a thread, since
  /// that takes some milliseconds. Any thread, any number of times.
  void JoinRemoteFences();

  /// Whether RINGLET_UNIQUE_ID is still to be used: true once.
  bool TakeGivenId() { return !given_id_taken_.exchange(true); }
  /// The same for the first communicator of all ranks of the job: true once.
  bool ClaimJobId() { return !job_id_claimed_.exchange(true); }

  /// Logs a warning, or with less weight a note, the first time that it is given.
  void WarnOnce(const std::string& text) { SayOnce(LogLevel::kWarn, text); }
  void NoteOnce(const std::string& text) { SayOnce(LogLevel::kInfo, text); }

  /// The plug-in that is told of operations; null: none. Loaded when the first communicator asks.
  ProfilerPlugin* profiler();
  /// The same of the one that is asked for algorithms.
  TunerPlugin* tuner();

  /// Shows `watched`, as long as it lives, to those who look at this process.
  void Watch(const std::shared_ptr<Watched>& watched);
  /// Those that live. Any thread.
  std::vector<std::shared_ptr<Watched>> watched();
  /// Gives `done` the counters of this process and its communicators, later and on a service
  /// thread. Any thread.
  void ReadMetrics(std::function<void(const watch::ProcessMetrics&)> done);
  /// Writes METRICS_FILE, if there is one, and waits for that. Not on a service thread.
  void WriteMetrics();

  /// Roots at which no rank has checked in: of unused ids.
  static constexpr std::size_t kUnusedRootsMax = 4096;
  /// Runs a root on the first service thread until it has finished, and forgets it then. If more
  /// than kUnusedRootsMax are unused, the oldest of these goes.
  void HostRoot(const std::shared_ptr<bootstrap::Root>& root, os::Hosted hosted);
  /// Has the root of that id, if it is here, refuse those that call, and say why. Any thread.
  void RefuseAtRoot(std::uint64_t magic, bootstrap::Failure why);

 private:
  Process(Settings settings, os::Host host, os::FileTree files, std::uint64_t process_hash);
  static Result<std::shared_ptr<Process>> Make(const EnvMap& environment,
                                               const FileVariables& conf_files);
  void Keep(std::unique_ptr<Service> service);
  Status AddService();
  Status PrepareService();
  bool IsServedAtOnce() const;
  void Serve();
  void Show();
  void ShowLater();
  void ForgetUnusedRoots();
  void SayOnce(LogLevel level, const std::string& text);
  void OpenStatusSocket();
  void OpenRas();
  void HeedDumpSignal();
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
  std::deque<Hosting> roots_;          // the first service thread's; oldest first
  mutable std::mutex services_mutex_;  // of the next two
  std::vector<Neighbourhood> near_;    // where ranks live; each place once
  std::vector<std::unique_ptr<Service>> services_;
  Service* first_ = nullptr;
  std::unique_ptr<transport::SharedListeners> endpoints_;  // before the services go
  std::atomic<bool> shows_later_{false};
  std::once_flag shows_once_;
  std::once_flag joins_fences_once_;
  std::jthread joins_fences_;
};

}  // namespace ringlet::comm
