// Answers external tools that inspect a process while it runs: status socket, RAS port, dump signal
// and metrics file.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/process/parts/ras_port.hpp"
#include "comm/process/parts/services.hpp"
#include "comm/service/watched.hpp"

namespace ringlet::comm {

class Diagnostics {
 public:
  /// \param facts, logger, services  outlive this. The threads of `services` stop before this ends.
  Diagnostics(const ProcessFacts& facts, os::Logger& logger, Services& services)
      : facts_(facts), logger_(logger), services_(services) {}

  const ProcessFacts& facts() const { return facts_; }
  os::Logger& logger() { return logger_; }
  os::SocketDriver& driver() { return services_.driver(); }

  /// Returns true if settings require files, signals or clients to be served before the first rank
  /// exists.
  bool IsOpenAtOnce() const;
  /// Begins to answer at the first call. Any thread may call this and the functions below.
  void Open();
  /// Does the same soon. No user queries the process sooner, and forming ranks need not wait.
  void OpenLater();

  /// Makes `watched` visible to tools that inspect this process, as long as it lives.
  void Watch(const std::shared_ptr<Watched>& watched);
  /// Returns the live ones.
  std::vector<std::shared_ptr<Watched>> watched() const;
  /// Passes the counters of this process and its communicators to `done`, later and on a service
  /// thread.
  void ReadMetrics(std::function<void(const watch::ProcessMetrics&)> done);
  /// Creates DUMP_DIR, if set, and warns if this process cannot write there.
  void CreateDumpFolder();
  /// Writes METRICS_FILE, if set, and waits for that. Not on a service thread.
  void WriteMetrics();

 private:
  void Repeat(std::chrono::milliseconds period, std::function<void()> work);
  void OpenRas();
  void PollDumpSignal();
  void OpenStatusSocket();
  void WriteMetricsFile(const watch::ProcessMetrics& metrics);

  const ProcessFacts& facts_;
  os::Logger& logger_;
  Services& services_;
  std::atomic<bool> opens_later_{false};
  std::once_flag opens_once_;
  mutable std::mutex watched_mutex_;
  std::vector<std::weak_ptr<Watched>> watched_;
  std::unique_ptr<RasPort> ras_;  // null: off
};

}  // namespace ringlet::comm
