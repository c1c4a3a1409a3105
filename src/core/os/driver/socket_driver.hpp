// Runs any number of Machines over real sockets, on one thread, with one epoll.
//
// Threads: everything but Post, PostAfter, RunUntil and Now belongs to the thread that calls Run or
// Step. A machine, its callbacks and its lines are touched by that thread only, so machines need no
// locks. Callbacks may call Add, Nudge and Remove. Before a thread of its own is started, a driver
// may be lent to one that waits for its work (Loan), which then runs it itself: that saves waking
// the one and being woken by it.
//
// Bounds: at most 1 GiB waits to be sent on one line; a peer that reads more slowly than that is
// hung up on, and the machine hears why. Each part (os/driver) names its other bounds.
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

  /// \param start  starts the thread that calls Run, when it is first needed: at the end of the
  /// first
  ///               loan, or when a thread posts work to which it is not lent. Empty: the owner does
  /// Errors  kSystem  no descriptors left.
  static Result<std::unique_ptr<SocketDriver>> Create(std::function<Status()> start = {});
  SocketDriver(const SocketDriver&) = delete;
  SocketDriver& operator=(const SocketDriver&) = delete;
  ~SocketDriver();

  /// Takes the machine in; its first Tick comes with the next Step.
  Id Add(Hosted hosted);
  /// Gives the machine a turn (a Tick) after its owner has given it a command.
  void Nudge(Id id);
  /// Closes the machine's own listeners; not its entrance.
  void CloseListeners(Id id);
  /// Forgets the machine: no more events. Lines with something unsent stay up to `linger` for it.
  void Remove(Id id, Instant linger = Instant(0));

  /// Runs `work` on the driver's thread, soon, in order. From any thread.
  void Post(std::function<void()> work);
  /// Runs `work` there when `wait` has passed, or never if the driver ends before. From any thread.
  void PostAfter(Instant wait, std::function<void()> work);
  /// Serves events until Stop.
  void Run();
  void Stop();
  /// Waits for events at most `wait`, serves them, returns.
  void Step(Instant wait);

  /// As long as it lives, the calling thread runs the driver while it is in RunUntil; unless it was
  /// started before, is lent to another thread, or had no `start`. Ends on the thread that made it.
  class Loan {
   public:
    /// \param spin  how long the thread looks for events before it sleeps: a message of another
    ///              process then comes 30 us sooner, at the cost of a core
    explicit Loan(SocketDriver& driver, Instant spin = Instant(0));
    ~Loan();
    Loan(Loan&& other) noexcept;
    Loan& operator=(Loan&&) = delete;
    /// Starts the driver's own thread, if it was lent here. Errors  those of `start`, which the
    /// next Post then calls again
    Status End();

   private:
    SocketDriver* driver_;  // null: it is not lent here
  };
  /// Runs the driver on the calling thread until `done`, which may take locks, or `until` of
  /// Now, for a turn at least. Returns at once where it is not lent to this thread, and when its
  /// own thread has been started: the caller then waits for that.
  void RunUntil(const std::function<bool()>& done, Instant until);

  using Counters = DriverCounters;
  const Counters& counters() const;

  /// How often a line could not be dialled or accepted, or came without what it carried, for want
  /// of descriptors. Any thread.
  std::uint64_t shortages() const;

  /// Monotonic; never zero.
  static Instant Now();

 private:
  class Impl;
  explicit SocketDriver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringlet::os
