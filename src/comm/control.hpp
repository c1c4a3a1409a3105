// The control network as a rank's thread sees it: calls that wait. The Member behind it lives on
// the service thread; every wait here has a deadline, ends when the communicator fails, and says
// why.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "bootstrap/member.hpp"
#include "comm/process.hpp"

namespace ringlet::comm {

class Control {
 public:
  struct Options {
    bootstrap::MemberConfig member;
    std::vector<os::Listener> listeners;            ///< of member.introduction.addresses
    std::chrono::milliseconds operation_timeout{};  ///< of each call below
  };

  /// When this rank came how far, for time lines. Zero where it has not come yet.
  struct Milestones {
    Instant begun{0};
    Instant roster{0};    ///< it knew who takes part
    Instant standing{0};  ///< it knew that all are connected
  };

  /// A join that is under way on the service thread.
  class Pending {
   public:
    /// Waits until all ranks are connected. Once. Errors  as Join.
    Result<std::unique_ptr<Control>> Finish(const std::stop_token& abort);

   private:
    friend class Control;
    Pending(std::unique_ptr<Control> control, std::chrono::milliseconds operation_timeout)
        : control_(std::move(control)), operation_timeout_(operation_timeout) {}
    std::unique_ptr<Control> control_;
    std::chrono::milliseconds operation_timeout_;  // once it stands
  };

  /// Begins to join and returns at once, so that one thread can bring many ranks in. A Pending that
  /// is dropped before it has finished fails the communicator on all ranks.
  static Pending Begin(std::shared_ptr<Process> process, Options options);

  /// Checks in and waits until all ranks are connected.
  /// Errors  kTimeout   names the ranks that did not come
  ///         kPeerLost  names the rank that was lost
  ///         kAborted   `abort` was requested here, or another rank gave up
  ///         kInvalidArgument, kProtocol  as the root or a peer says
  static Result<std::unique_ptr<Control>> Join(std::shared_ptr<Process> process, Options options,
                                               const std::stop_token& abort);

  /// Leaves in good order, or, if not Settled, fails the communicator on all ranks.
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// Who is in. Valid as long as this lives.
  const bootstrap::Roster& roster() const { return roster_; }
  Milestones milestones() const;

  // Collective over all ranks, in the same order on all. Errors  as Join, later.
  Result<bootstrap::Table> AllGather(Bytes payload);
  Status Barrier();
  /// Errors  kProtocol  names the ranks whose value differs. On all ranks or on none.
  Status RequireEqual(std::uint64_t value, std::string_view what);

  // Between two ranks.
  Status Send(Rank to, std::uint64_t tag, Bytes message);
  Result<Bytes> Receive(Rank from, std::uint64_t tag);

  /// Passes `result` through; an error fails the communicator on all ranks with its reason. Wrapped
  /// around each stage of forming a communicator: what fails on one rank fails on all.
  template <typename T>
  Result<T> Share(Result<T> result) {
    if (!result.ok()) Fail(result.error());
    return result;
  }

  /// What this rank answers when another asks what it does; written by the rank's thread.
  struct Doing {
    std::atomic<std::uint64_t> operations{0};  ///< begun so far
    std::atomic<std::int64_t> waits_for{-1};   ///< inside one: a rank; else -1
  };
  Doing& doing() { return *doing_; }
  /// Asks `whom` what it does. Empty when it does not answer within `patience`: its process is
  /// stopped or gone.
  std::optional<bootstrap::Activity> Ask(Rank whom, std::chrono::milliseconds patience);

  /// Fails the communicator on all ranks, unless it has failed already.
  void Fail(const Error& error);
  /// The reason why the communicator has failed, if it has. Any thread.
  std::optional<Error> failure() const;
  /// Called once when the communicator fails (at once if it has), on the service thread and under a
  /// lock: it may wake somebody, and must not call back. Not called any more after Leave.
  void OnFailure(std::function<void()> callback);
  /// Waits at most `patience` for a failure: a broken link is explained by the control network
  /// soon.
  std::optional<Error> AwaitFailure(std::chrono::milliseconds patience) const;

  void Leave();

  void set_operation_timeout(std::chrono::milliseconds timeout) { operation_timeout_ = timeout; }

 private:
  struct Shared;
  Control(std::shared_ptr<Process> process, std::shared_ptr<Shared> shared,
          std::shared_ptr<Doing> doing, std::chrono::milliseconds operation_timeout);
  Status Await(const std::function<bool()>& ready);
  Result<bootstrap::Table> Gather(bool barrier, Bytes payload);
  void Command(std::function<void(bootstrap::Member&)> command);

  std::shared_ptr<Process> process_;
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Doing> doing_;  // the service thread reads it
  std::chrono::milliseconds operation_timeout_;
  bootstrap::Roster roster_;
};

}  // namespace ringlet::comm
