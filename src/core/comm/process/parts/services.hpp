// The service threads of a process, and the roots that run on them.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bootstrap/root.hpp"
#include "comm/process/parts/facts.hpp"
#include "comm/service/service.hpp"
#include "os/driver/socket_driver.hpp"
#include "os/fs/log_sink.hpp"
#include "topology/view/cpu_set.hpp"
#include "transport/wireup/shared_listeners.hpp"

namespace ringlet::comm {

/// The threads that drive all control connections and the endpoints of ranks and roots.
class Services {
 public:
  /// \param facts, logger  outlive this
  Services(const ProcessFacts& facts, os::Logger& logger) : facts_(facts), logger_(logger) {}
  /// Starts the first thread, before any other call.
  /// \param begin  called first on the thread. If set, the thread starts when a thread without a
  ///   lease of the driver posts work to it, or when a lease ends
  /// Errors  kSystem  no descriptors, no thread
  Status Start(std::function<void()> begin = {});
  /// Stops the threads, and cuts off any remaining communicators and roots. The last call.
  void Stop();

  /// Returns the driver of the first service thread, which always exists.
  os::SocketDriver& driver() { return first_->driver(); }
  /// The addresses of the ranks and roots of this process.
  transport::SharedListeners& endpoints() const { return *endpoints_; }

  /// The service thread of a rank of this process.
  struct ServiceSlot {
    Service& service;
    std::shared_ptr<const void> taken;  ///< held as long as the thread serves the rank
  };
  /// Returns a place for one more rank. Starts another service thread if each existing one has many
  /// ranks and cores are available. A process with one rank has one thread.
  ServiceSlot ReserveService();
  /// Moves the service threads near a rank at `numa_node`: to `cpus` and the CPUs of other ranks'
  /// calls. Other threads are not moved. Does nothing if `cpus` is empty.
  void MoveServicesNear(const topology::CpuSet& cpus, std::uint32_t numa_node);

  using Counters = os::SocketDriver::Counters;
  /// Passes the sum of the counts of all service threads to `done`, later and on one of them. Any
  /// thread.
  void ReadCounters(std::function<void(const Counters&)> done);
  /// Returns the same sum. Waits for each thread.
  Counters ReadCounters();
  /// Returns how often this process lacked descriptors while it read the machine or accepted
  /// callers. Any thread.
  std::uint64_t shortages() const;

  /// After this time, a new communicator has probably completed its first sum, which another thread
  /// would delay.
  static constexpr std::chrono::milliseconds kFencesAfter{20};
  /// Joins the fences of other processes after kFencesAfter, on a thread, because that takes some
  /// milliseconds. Any thread, any number of times.
  void JoinRemoteFences();

 private:
  Status Add();
  void Keep(std::unique_ptr<Service> service);

  const ProcessFacts& facts_;
  os::Logger& logger_;
  mutable std::mutex mutex_;                                      // guards the next two
  std::vector<std::pair<topology::CpuSet, std::uint32_t>> near_;  // nodes of ranks; each pair once
  std::vector<std::unique_ptr<Service>> services_;
  Service* first_ = nullptr;
  std::unique_ptr<transport::SharedListeners> endpoints_;  // destroyed before the services
  std::once_flag joins_fences_once_;
  std::jthread joins_fences_;
};

/// The unique ids of a process: the roots of its own ids, and the ids that it uses once.
class Roots {
 public:
  /// \param services, logger  outlive this. The threads of `services` stop before this ends.
  Roots(Services& services, os::Logger& logger) : services_(services), logger_(logger) {}

  /// Maximum number of roots of unused ids, where no rank has checked in.
  static constexpr std::size_t kUnusedMax = 4096;
  /// Runs a root on the first service thread until it has finished. Beyond kUnusedMax unused roots,
  /// the oldest is dropped.
  void Host(const std::shared_ptr<bootstrap::Root>& root, os::Hosted hosted);
  /// Makes the root of that id, if it is here, refuse its callers with the reason. Any thread.
  void Refuse(std::uint64_t magic, bootstrap::Failure why);

  /// Returns true at the first call only: RINGLET_UNIQUE_ID is then to be used.
  bool TakeGivenId() { return !given_id_taken_.exchange(true); }
  /// Returns true at the first call only: for the job's first communicator of all ranks.
  bool ClaimJobId() { return !job_id_claimed_.exchange(true); }

 private:
  void ForgetUnused();

  struct Hosting {
    std::weak_ptr<bootstrap::Root> root;
    os::SocketDriver::Id id;
  };
  Services& services_;
  os::Logger& logger_;
  std::deque<Hosting> roots_;  // owned by the first service thread; oldest first
  std::atomic<bool> given_id_taken_{false};
  std::atomic<bool> job_id_claimed_{false};
};

}  // namespace ringlet::comm
