// The control network, as blocking calls of a rank's thread. Each wait has a deadline, ends when
// the communicator fails, and returns the reason. The Member behind it runs on the service thread.
// Several Controls may use the connections of one Member: a communicator that was split or shrunk
// from another keeps them, even after the other is destroyed.
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
#include "watch/findings.hpp"

namespace ringlet::comm {

class Control {
 public:
  struct Options {
    bootstrap::MemberConfig member;
    /// Listeners at member.member_address.addresses. With an entrance, only listeners needed until
    /// the network is complete, which are closed then.
    std::vector<os::Listener> listeners = {};
    std::shared_ptr<os::Entrance> entrance = {};    ///< may be null
    std::chrono::milliseconds operation_timeout{};  ///< of each call below
  };

  /// A join in progress on the service thread.
  class Pending {
   public:
    /// Waits until all ranks are connected. Called once. Errors  as Join.
    Result<std::unique_ptr<Control>> Finish(const std::stop_token& abort);

   private:
    friend class Control;
    Pending(std::unique_ptr<Control> control, std::chrono::milliseconds operation_timeout)
        : control_(std::move(control)), operation_timeout_(operation_timeout) {}
    std::unique_ptr<Control> control_;
    std::chrono::milliseconds operation_timeout_;  // after the join
  };

  /// Begins to join and returns at once, so that one thread can join many ranks. A Pending that is
  /// destroyed before Finish fails the communicator on all ranks.
  static Pending Begin(std::shared_ptr<Process> process, Options options);

  /// Checks in and waits until all ranks are connected.
  /// Errors  kTimeout   names the missing ranks
  ///         kPeerLost  names the lost rank
  ///         kAborted   `abort` was requested here, or another rank aborted
  ///         kInvalidArgument, kProtocol  as reported by the root or a peer
  static Result<std::unique_ptr<Control>> Join(std::shared_ptr<Process> process, Options options,
                                               const std::stop_token& abort);

  /// Leaves in good order, or, if the join is not complete, fails the communicator on all ranks.
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// Returns the members. Valid as long as this lives.
  const bootstrap::Roster& roster() const { return roster_; }
  /// Returns the time at which this rank noticed the failure, by os::Now. 0: no failure.
  Instant failed_at() const;
  /// The times since the failure of the communicator that this one continues, if it continues one.
  /// `ringlet status` reports them.
  void SetRecovery(std::optional<watch::RecoveryTimes> times);
  std::optional<watch::RecoveryTimes> recovery() const;
  /// The first operation of this rank is complete. Sets the time in the recovery.
  /// \pre  it continues a failed communicator
  void MarkFirstResult();
  /// Returns the times at which the join reached each milestone, by os::Now.
  bootstrap::Milestones milestones() const;
  Rank rank() const { return rank_; }
  /// Returns the parent's rank of each rank of a child. Empty without a parent.
  const std::vector<std::uint32_t>& ranks_of_parent() const { return ranks_of_parent_; }
  /// Returns the id, which is the same on all ranks and different for each child of a communicator.
  bootstrap::GroupId id() const;

  // Collective. These form communicators of some of the ranks, on the existing connections.
  /// Ranks of the same colour form a communicator, in the order of their keys, then of their ranks.
  /// All colours together use one all-gather. A rank without a colour takes part and gets null.
  /// Errors  as AllGather
  Result<std::unique_ptr<Control>> Split(std::optional<std::int32_t> color, std::int32_t key);
  /// Forms a communicator of all ranks but `excluded`, in order of rank. Only these ranks call it.
  /// This communicator may have failed. No exchange: the first collective detects different lists.
  /// A rank that assumes another first rank waits in vain, and its timeout names the peers.
  /// Errors  kInvalidArgument  a rank that does not exist, or this one
  Result<std::unique_ptr<Control>> Shrink(std::vector<std::uint32_t> excluded);
  /// Forms a communicator of all ranks that are not lost, as far as this rank knows. These ranks
  /// call it, in the same order. This communicator has failed. The call exchanges no messages. If
  /// the callers know of different lost ranks, the new communicator fails with kPeerLost on all of
  /// them. Some of them have then learned of more lost ranks, and all call it again.
  /// Errors  kPeerLost  the other ranks have lost this one
  Result<std::unique_ptr<Control>> Reform();
  /// Returns true if Shrink was called.
  bool has_shrunk() const { return !shrunk_.empty(); }
  /// Returns true if Reform made it.
  bool reformed() const { return lineage_.has_value(); }

  // Collective over all ranks, in the same order on all. Errors  as Join.
  Result<bootstrap::Table> AllGather(Bytes payload);
  Status Barrier();
  /// Errors  kProtocol  names the ranks with different values. All ranks fail or none.
  Status RequireEqual(std::uint64_t value, std::string_view what);
  /// Does the same, and returns each rank's `secret` in the order of the ranks.
  Result<std::vector<Secret>> RequireEqual(std::uint64_t value, std::string_view what,
                                           const Secret& secret);

  /// Checks that the numbers at the beginning of all entries are equal. Errors  as RequireEqual
  static Status CheckEqual(const bootstrap::Table& table, std::string_view what);

  // Between two ranks.
  Status Send(Rank to, std::uint64_t tag, Bytes message);
  Result<Bytes> Receive(Rank from, std::uint64_t tag);
  /// Passes each message with a tag of at least bootstrap::kPushedTag to `on_pushed` as it arrives:
  /// on the service thread, one at a time, in each sender's order. Messages that arrive before this
  /// call are kept until then. `on_pushed` is not called after Leave.
  using OnPushed = std::function<void(bootstrap::PushedMessage)>;
  void SetPushHandler(OnPushed on_pushed);

  /// Returns `result`. An error fails the communicator on all ranks with its reason. Each stage of
  /// forming a communicator uses this, so that a failure on one rank is a failure on all.
  template <typename T>
  Result<T> Share(Result<T> result) {
    if (!result.ok()) Fail(result.error());
    return result;
  }

  /// Runs `wait`, which takes a token and returns a Result, and stops it when this communicator
  /// fails or `abort` is requested. Replaces an error that the control network can explain.
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

  /// This rank's recorder, which answers queries of other ranks. The rank's thread writes it.
  FlightRecorder& doing();
  /// Sets the sockets to inspect when another rank or an external tool queries this one.
  void SetSendQueues(std::shared_ptr<const transport::SendQueues> send_queues);
  enum class Reachability : std::uint8_t {
    kSilent,  ///< no answer in time: its process is stopped or unreachable
    kHere,
    kLeft,    ///< in good order, by its own report
    kAbsent,  ///< no process listens at its addresses: it left or died; its neighbours report which
  };
  struct Answer {
    Reachability presence = Reachability::kSilent;
    bootstrap::Activity activity = {};  ///< of kHere
  };
  /// Queries the activity of `whom`, and waits at most `timeout` for the answer.
  Answer Ask(Rank whom, std::chrono::milliseconds timeout);

  /// Fails the communicator on all ranks, unless it has failed already.
  void Fail(const Error& error);
  /// Returns the reason if the communicator has failed. Any thread.
  std::optional<Error> failure() const;
  /// Sets a function that is called once: at a failure, or now if it has failed. It runs on the
  /// service thread under a lock. It may wake a thread, but not call this object. Not called after
  /// Leave.
  void OnFailure(std::function<void()> callback);
  /// Waits at most `timeout` for a failure. The control network soon reports the cause of a broken
  /// link.
  std::optional<Error> AwaitFailure(std::chrono::milliseconds timeout) const;
  /// Waits briefly for a failure of the communicator that may be the cause of `error`.
  std::optional<Error> Explain(const Error& error) const;

  void Leave();

  /// Marks the communicator as formed, with its public name. Tools that inspect it use both.
  void SetFormed(std::uint64_t name);
  /// Writes the last operations into DUMP_DIR, if set, after a failure, unless the file contains
  /// them. The service thread does the same. Returns when they are written.
  void DumpFailure();

  void set_operation_timeout(std::chrono::milliseconds timeout) { operation_timeout_ = timeout; }

 private:
  struct SharedMember;
  struct Shared;
  Control(std::shared_ptr<Process> process, std::shared_ptr<Shared> shared,
          std::chrono::milliseconds operation_timeout);
  /// Makes a child. `form` forms its group on the service thread, and returns its ranks.
  using RanksOfChild = Result<std::vector<std::uint32_t>>;
  Result<std::unique_ptr<Control>> Form(
      bootstrap::GroupId id, std::function<RanksOfChild(bootstrap::Member&, Instant now)> form);
  Result<std::unique_ptr<Control>> Form(bootstrap::GroupId id, std::vector<std::uint32_t> ranks);
  Status Await(const std::function<bool()>& ready);
  Result<bootstrap::Table> Gather(bool barrier, Bytes payload);
  void Command(std::function<void(bootstrap::Member&, bootstrap::GroupId)> command);

  std::shared_ptr<Process> process_;
  std::shared_ptr<Shared> shared_;
  std::chrono::milliseconds operation_timeout_;
  bootstrap::Roster roster_;
  Rank rank_{};
  std::vector<std::uint32_t> ranks_of_parent_;
  std::uint64_t splits_ = 0;                        // so far; all ranks have the same count
  std::vector<std::vector<std::uint32_t>> shrunk_;  // the ranks that each shrink on this rank kept
  // Some ranks may have reformed a communicator that others have not, before a further rank died.
  // They count on from the communicator that was reformed first.
  std::optional<bootstrap::GroupId> lineage_;  // that one, if this one was reformed
  std::uint64_t reforms_ = 0;                  // since then
};

}  // namespace ringlet::comm
