// Runs any number of Machines over real sockets, on one thread, with one epoll.
//
// Threads: only the thread that calls Run or Step may call the functions other than Post,
// PostAfter, RunUntil and Now. Only that thread touches a machine, its callbacks and its
// connections, so machines need no locks. Callbacks may call Add, RequestTick and Remove. Until the
// driver's own thread starts, a thread that waits for its work may borrow the driver (Loan) and run
// it itself, which saves two wake-ups.
//
// Bounds: at most 1 GiB waits to be sent on one connection. The driver hangs up on a slower peer,
// and the machine receives the reason. Each part (os/driver) documents its other bounds.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/wire/machine.hpp"
#include "os/driver/driver_counters.hpp"
#include "os/driver/hosted.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

class SocketDriver {
 public:
  using Id = MachineId;

  /// \param start  starts the thread that calls Run when it is needed: at the end of the first
  ///               lease, or when a thread without a lease posts work. Empty: the owner starts it.
  /// Errors  kSystem  no descriptors left.
  static Result<std::unique_ptr<SocketDriver>> Create(std::function<Status()> start = {});
  SocketDriver(const SocketDriver&) = delete;
  SocketDriver& operator=(const SocketDriver&) = delete;
  ~SocketDriver();

  /// Adds the machine. The next Step delivers its first Tick.
  Id Add(Hosted hosted);
  /// Delivers a Tick to the machine after its owner has given it a command.
  void RequestTick(Id id);
  /// Closes the machine's own listeners, but not its entrance.
  void CloseListeners(Id id);
  /// Removes the machine, which receives no more events. Its unsent data drains for up to `linger`.
  void Remove(Id id, Instant linger = Instant(0));

  /// Runs `work` on the driver's thread, soon and in order. Any thread.
  void Post(std::function<void()> work);
  /// Runs `work` on that thread after `wait`, or never if the driver ends earlier. Any thread.
  void PostAfter(Instant wait, std::function<void()> work);
  /// Serves events until Stop.
  void Run();
  void Stop();
  /// Waits for events for at most `wait`, serves them, and returns.
  void Step(Instant wait);

  /// A lease of the driver to the calling thread, which runs it during RunUntil. Has no effect if
  /// the driver was started, is lent already, or has an empty `start`. Must end on its own thread.
  class Lease {
   public:
    /// \param spin  how long the thread polls for events before it sleeps: a message of another
    ///              process then arrives 30 us sooner, at the cost of a core
    explicit Lease(SocketDriver& driver, Instant spin = Instant(0));
    ~Lease();
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    /// Starts the driver's own thread, if the driver was lent here.
    /// Errors  those of `start`; the next Post calls it again
    Status End();

   private:
    SocketDriver* driver_;  // null: not lent here
  };
  /// Runs the driver on the calling thread until `done`, which may take locks, or until time
  /// `until`, but for at least one turn. Returns at once if the driver is not lent to this thread,
  /// and as soon as its own thread has started. The caller then waits for that thread.
  void RunUntil(const std::function<bool()>& done, Instant until);

  using Counters = DriverCounters;
  const Counters& counters() const;

  /// Number of connections that could not be dialled or accepted, or arrived without their
  /// descriptors, because no descriptor was left. Any thread.
  std::uint64_t shortages() const;

  /// Monotonic; never zero.
  static Instant Now();

 private:
  class Impl;
  explicit SocketDriver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringlet::os
