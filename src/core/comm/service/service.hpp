// A service thread with its driver of machines and the rosters that its ranks share. The thread
// runs near its ranks.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/roster.hpp"
#include "os/driver/socket_driver.hpp"
#include "os/fs/log_sink.hpp"
#include "os/process/thread.hpp"
#include "topology/view/cpu_set.hpp"

namespace ringlet::comm {

class Service {
 public:
  /// \param name    of the thread, in ps and gdb
  /// \param logger  outlives this
  /// Errors  kSystem  no descriptors, no thread
  static Result<std::unique_ptr<Service>> Start(std::string name, os::Logger& logger);
  /// Does the same with a thread that starts when its driver first needs one.
  /// \param begin  called first on the thread
  static Result<std::unique_ptr<Service>> Prepare(std::string name, os::Logger& logger,
                                                  std::function<void()> begin);
  /// Ends the thread.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  os::SocketDriver& driver() { return *driver_; }
  /// Belongs to the thread, as do all machines on it.
  const std::shared_ptr<bootstrap::RosterCache>& roster_cache() const { return roster_cache_; }

  /// Moves the thread near a rank at `numa_node`: to `cpus` and the CPUs of earlier calls. Memory
  /// that the thread touches first lies at that node, as long as all calls name the same one. A
  /// thread of the program that borrows the driver is not moved.
  void RunNear(const topology::CpuSet& cpus, std::uint32_t numa_node);

  /// Returns the number of ranks served at present. Any thread.
  std::uint32_t ranks() const { return ranks_->load(); }
  /// Counts one more rank until the last copy of the returned pointer is destroyed.
  std::shared_ptr<const void> ReserveService();

 private:
  Service(std::string name, os::Logger& logger) : name_(std::move(name)), logger_(logger) {}
  Status StartThread(const std::function<void()>& begin);

  const std::string name_;
  os::Logger& logger_;
  const std::shared_ptr<bootstrap::RosterCache> roster_cache_ =
      std::make_shared<bootstrap::RosterCache>();
  // Outlives this if a slot does.
  const std::shared_ptr<std::atomic<std::uint32_t>> ranks_ =
      std::make_shared<std::atomic<std::uint32_t>>(0);
  struct Home {
    topology::CpuSet cpus;
    std::uint32_t numa_node = 0;
  };
  void Begin();
  void MoveNear();
  void MoveNear(const Home& home);
  std::mutex places_mutex_;                 // guards the next two
  std::vector<Home> places_;                // places that the thread has not applied yet
  std::thread::id thread_id_{};             // none: it has not begun
  topology::CpuSet near_;                   // owned by the thread, as are the next two
  std::optional<std::uint32_t> near_node_;  // if all ranks are at that node
  std::optional<os::MemoryNear> near_memory_;
  std::unique_ptr<os::SocketDriver> driver_;
  std::jthread thread_;
};

/// Number of ranks that one thread serves before another one starts. Below this number, ranks meet
/// sooner on one thread, because no data moves between cores (measured: docs/performance.md).
inline constexpr std::uint32_t kRanksOfAThread = 64;

/// Returns the thread for the next rank: the index of one that serves `ranks[index]` ranks now, or
/// `ranks.size()` for a new thread. \param threads_max  at least 1
std::size_t ThreadForNextRank(std::span<const std::uint32_t> ranks, std::size_t threads_max);

}  // namespace ringlet::comm
