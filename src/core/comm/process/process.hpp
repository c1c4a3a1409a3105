// The state that the ranks of one process share: facts about the process and its host, the log,
// memory, and the service threads that drive all control connections. Created by the front ends and
// passed down, never a global.
#pragma once
#include <memory>

#include "base/settings/env_map.hpp"
#include "collective/shm/in_process_buffers.hpp"
#include "comm/plugin/profiler.hpp"
#include "comm/plugin/tuner.hpp"
#include "comm/process/parts/diagnostics.hpp"
#include "comm/process/parts/facts.hpp"
#include "comm/process/parts/registered_heap.hpp"
#include "comm/process/parts/services.hpp"
#include "os/fs/log_sink.hpp"
#include "transport/inproc/inproc.hpp"

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
  /// Stops the service threads, and cuts off any remaining communicators and unused ids.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const ProcessFacts& facts() const { return facts_; }
  HostReader& host_reader() { return host_reader_; }
  /// The messages of ranks of this process to each other.
  transport::InprocExchange& inproc() { return inproc_; }
  RegisteredHeap& heap() { return heap_; }
  collective::InProcessBuffersTable& buffers() { return buffers_; }
  Services& services() { return services_; }
  const Services& services() const { return services_; }
  Roots& roots() { return roots_; }
  Diagnostics& diagnostics() { return diagnostics_; }

  const Settings& settings() const { return facts_.settings; }
  const os::Host& host() const { return facts_.host; }
  const os::FileTree& files() const { return facts_.files; }
  os::Logger& logger() { return logger_; }
  os::SocketDriver& driver() { return services_.driver(); }

  /// Lends the driver to the calling thread, if the service thread does not run yet. \param ranks
  /// of the communicator to form; if each may have a core, the driver spins before it sleeps
  os::SocketDriver::Lease Borrow(std::uint32_t ranks);
  /// Returns the plug-in that observes operations, or null.
  ProfilerPlugin* profiler();
  /// Returns the plug-in that selects algorithms, or null.
  TunerPlugin* tuner();

 private:
  explicit Process(ProcessFacts facts);
  static Result<std::shared_ptr<Process>> Make(const EnvMap& environment,
                                               const FileVariables& conf_files, bool prepares);

  const ProcessFacts facts_;
  os::Logger logger_;
  HostReader host_reader_;
  transport::InprocExchange inproc_;
  RegisteredHeap heap_;
  collective::InProcessBuffersTable buffers_;
  LoadedOnce<ProfilerPlugin> profiler_;
  LoadedOnce<TunerPlugin> tuner_;
  Services services_;
  Roots roots_;
  Diagnostics diagnostics_;
};

}  // namespace ringlet::comm
