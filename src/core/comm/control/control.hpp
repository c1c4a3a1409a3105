// The control network as a rank's thread sees it: calls that wait. The Member behind it lives on
// the service thread; every wait here has a deadline, ends when the communicator fails, and says
// why. Several Controls may live on the connections of one Member: what was split or shrunk from a
// communicator keeps them, also after that one is gone.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "bootstrap/member/member.hpp"
#include "comm/control/recorder.hpp"
#include "comm/process/process.hpp"
#include "transport/tcp/send_queues.hpp"

namespace ringlet::comm {

class Control {
 public:
  struct Options {
    bootstrap::MemberConfig member;
    /// Of member.member_address.addresses; with an entrance only what is needed until the network
    /// stands: they are closed then.
    std::vector<os::Listener> listeners = {};
    std::shared_ptr<os::Entrance> entrance = {};    ///< may be null
    std::chrono::milliseconds operation_timeout{};  ///< of each call below
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

  /// The members. Valid as long as this lives.
  const bootstrap::Roster& roster() const { return roster_; }
  /// When it came how far, by the clock of os::Now.
  bootstrap::Milestones milestones() const;
  Rank rank() const { return rank_; }
  /// Of a child: by rank, the rank of the parent. Else empty.
  const std::vector<std::uint32_t>& ranks_of_parent() const { return ranks_of_parent_; }
  /// The same on all its ranks, and another for each child of a communicator.
  bootstrap::GroupId id() const;

  // Collective: new communicators of some of the ranks, which reuse the connections of this one.
  /// Those of the same colour come together, in the order of their keys and then of their ranks.
  /// One all-gather for all colours together. Without a colour: takes part, and gets nothing.
  /// Errors  as AllGather
  Result<std::unique_ptr<Control>> Split(std::optional<std::int32_t> color, std::int32_t key);
  /// All but `excluded`, in order of rank. Only those who stay call it; this communicator may have
  /// failed. No exchange: that all named the same ranks is found at the first collective; who stays
  /// with another first rank than its peers waits for them in vain, and its time-out says for whom.
  /// Errors  kInvalidArgument  a rank that does not exist, or this one
  Result<std::unique_ptr<Control>> Shrink(std::vector<std::uint32_t> excluded);

  // Collective over all ranks, in the same order on all. Errors  as Join, later.
  Result<bootstrap::Table> AllGather(Bytes payload);
  Status Barrier();
  /// Errors  kProtocol  names the ranks whose value differs. On all ranks or on none.
  Status RequireEqual(std::uint64_t value, std::string_view what);
  /// The same, and each rank's `secret`, in the order of the ranks.
  Result<std::vector<Secret>> RequireEqual(std::uint64_t value, std::string_view what,
                                           const Secret& secret);

  /// The check of it, for numbers with which the entries of a table begin.
  static Status CheckEqual(const bootstrap::Table& table, std::string_view what);

  // Between two ranks.
  Status Send(Rank to, std::uint64_t tag, Bytes message);
  Result<Bytes> Receive(Rank from, std::uint64_t tag);
  /// Has messages whose tag is bootstrap::kPushedTag or more seen to as they come: on the service
  /// thread, one after the other, in each sender's order. Those that came before are kept until
  /// this is called. Not called any more after Leave.
  using OnPushed = std::function<void(bootstrap::PushedMessage)>;
  void SeeTo(OnPushed on_pushed);

  /// Passes `result` through; an error fails the communicator on all ranks with its reason. Wrapped
  /// around each stage of forming a communicator: what fails on one rank fails on all.
  template <typename T>
  Result<T> Share(Result<T> result) {
    if (!result.ok()) Fail(result.error());
    return result;
  }

  /// Runs `wait`, which takes a token and gives a Result, such that it ends when this communicator
  /// fails or `abort` is requested. An error is explained by what the control network knows of it.
  template <typename Wait>
  auto WhileStanding(const std::stop_token& abort, Wait&& wait)
      -> decltype(wait(std::stop_token())) {
    std::stop_source stop;
    const std::stop_callback told(abort, [&] { stop.request_stop(); });
    OnFailure([&] { stop.request_stop(); });
    auto result = wait(stop.get_token());
    OnFailure(nullptr);
    if (!result.ok())
      if (auto better = Explain(result.error())) return *better;
    return result;
  }

  /// Of this rank: its answer when another asks what it does. Written by the rank's thread.
  FlightRecorder& doing();
  /// The sockets that are looked at when another rank, or someone outside, asks.
  void SetSendQueues(std::shared_ptr<const transport::SendQueues> send_queues);
  enum class Presence : std::uint8_t {
    kSilent,  ///< it does not answer in time: its process is stopped, or cut off
    kHere,
    kLeft,    ///< in good order, as it says
    kAbsent,  ///< no process listens at its addresses: it has left or died, of which its neighbours
              ///< tell
  };
  struct Answer {
    Presence presence = Presence::kSilent;
    bootstrap::Activity activity = {};  ///< of kHere
  };
  /// Asks `whom` what it does, and waits at most `timeout` for its answer.
  Answer Ask(Rank whom, std::chrono::milliseconds timeout);

  /// Fails the communicator on all ranks, unless it has failed already.
  void Fail(const Error& error);
  /// The reason why the communicator has failed, if it has. Any thread.
  std::optional<Error> failure() const;
  /// Called once when the communicator fails (at once if it has), on the service thread and under a
  /// lock: it may wake a thread, and must not call back. Not called any more after Leave.
  void OnFailure(std::function<void()> callback);
  /// Waits at most `timeout` for a failure: a broken link is explained by the control network
  /// soon.
  std::optional<Error> AwaitFailure(std::chrono::milliseconds timeout) const;
  /// Of an error that may come of the communicator's failure: waits a moment for that.
  std::optional<Error> Explain(const Error& error) const;

  void Leave();

  /// The communicator stands, and its public name is this. For those who watch the process.
  void SetFormed(std::uint64_t name);
  /// After a failure, once: writes the last operations into DUMP_DIR, if there is one. The service
  /// thread does it as well; returns when they are written.
  void DumpFailure();

  void set_operation_timeout(std::chrono::milliseconds timeout) { operation_timeout_ = timeout; }

 private:
  struct Carrier;
  struct Shared;
  Control(std::shared_ptr<Process> process, std::shared_ptr<Shared> shared,
          std::chrono::milliseconds operation_timeout);
  Result<std::unique_ptr<Control>> Form(bootstrap::GroupId id,
                                        const std::vector<std::uint32_t>& ranks);
  Status Await(const std::function<bool()>& ready);
  Result<bootstrap::Table> Gather(bool barrier, Bytes payload);
  void Command(std::function<void(bootstrap::Member&, bootstrap::GroupId)> command);

  std::shared_ptr<Process> process_;
  std::shared_ptr<Shared> shared_;
  std::chrono::milliseconds operation_timeout_;
  bootstrap::Roster roster_;
  Rank rank_{};
  std::vector<std::uint32_t> ranks_of_parent_;
  std::uint64_t splits_ = 0;                        // so far: all ranks count alike
  std::vector<std::vector<std::uint32_t>> shrunk_;  // the ranks that each shrink here has kept
};

}  // namespace ringlet::comm
