// One thread of ours and what it serves: a driver of machines, the rosters that its ranks share,
// and the part of the machine that they live in.
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
  /// The same with a thread that starts when its driver first needs one.
  /// \param begin  what it does first
  static Result<std::unique_ptr<Service>> Prepare(std::string name, os::Logger& logger,
                                                  std::function<void()> begin);
  /// Ends the thread.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  os::SocketDriver& driver() { return *driver_; }
  /// The thread's own, as all machines on it are.
  const std::shared_ptr<bootstrap::RosterShelf>& shelf() const { return shelf_; }

  /// Has the thread run near a rank that lives at `numa_node`: on `cpus`, and on those that it was
  /// told of before. Memory that it touches first lies at the node as long as it was told of no
  /// other. A thread of the program to which the driver is lent stays where it is.
  void RunNear(const topology::CpuSet& cpus, std::uint32_t numa_node);

  /// Ranks that are served here now. Any thread.
  std::uint32_t ranks() const { return ranks_->load(); }
  /// One more, until the last copy of what is returned goes.
  std::shared_ptr<const void> TakeSeat();

 private:
  Service(std::string name, os::Logger& logger) : name_(std::move(name)), logger_(logger) {}
  Status StartThread(const std::function<void()>& begin);

  const std::string name_;
  os::Logger& logger_;
  const std::shared_ptr<bootstrap::RosterShelf> shelf_ = std::make_shared<bootstrap::RosterShelf>();
  // Outlives this where a seat does.
  const std::shared_ptr<std::atomic<std::uint32_t>> ranks_ =
      std::make_shared<std::atomic<std::uint32_t>>(0);
  struct Home {
    topology::CpuSet cpus;
    std::uint32_t numa_node = 0;
  };
  void Begin();
  void GoNear();
  void GoNear(const Home& home);
  std::mutex places_mutex_;                 // of the next two
  std::vector<Home> places_;                // that the thread has not been told of
  std::thread::id thread_id_{};             // none: it has not begun
  topology::CpuSet near_;                   // the thread's own, as are the next two
  std::optional<std::uint32_t> near_node_;  // if all ranks live there
  std::optional<os::MemoryNear> near_memory_;
  std::unique_ptr<os::SocketDriver> driver_;
  std::jthread thread_;
};

/// Ranks that one thread takes before another one is started. Below it they meet sooner on one
/// thread, which hands nothing from core to core (measured: docs/performance.md).
inline constexpr std::uint32_t kRanksOfAThread = 64;

/// Which thread another rank goes to: the index of one that serves `ranks[index]` now, or
/// `ranks.size()` for a new one. \param threads_max  at least 1
std::size_t ThreadForNextRank(std::span<const std::uint32_t> ranks, std::size_t threads_max);

}  // namespace ringlet::comm
