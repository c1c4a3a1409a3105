// A formed communicator, as one rank holds it.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collective/call/operation.hpp"
#include "collective/exec/executor.hpp"
#include "collective/exec/messages.hpp"
#include "collective/select/select.hpp"
#include "comm/control/control.hpp"
#include "comm/machine/machine.hpp"
#include "comm/machine/traffic.hpp"
#include "comm/peers/peer_table.hpp"
#include "comm/peers/selection.hpp"
#include "comm/plugin/profiler.hpp"
#include "comm/plugin/tuner.hpp"
#include "comm/process/config.hpp"
#include "comm/process/fault.hpp"
#include "comm/run/host_memory.hpp"
#include "comm/run/inquiry.hpp"
#include "comm/run/one_sided.hpp"
#include "comm/run/work.hpp"
#include "comm/service/fork_guard.hpp"
#include "os/clock.hpp"
#include "plan/channels/channel_plan.hpp"
#include "transport/wireup/links.hpp"

namespace ringlet::comm {

class BlockingTask;

struct Identity {
  Rank rank{};
  std::uint32_t size = 0;
  std::uint32_t device = 0;
  std::uint64_t magic = 0;  ///< public name of the communicator, the same on all ranks
};

class Communicator {
 public:
  Communicator(Origin origin, std::unique_ptr<Control> control, PeerTable peer_table,
               plan::ChannelPlan plan, std::unique_ptr<transport::Links> links,
               HostMemoryParts memory, std::shared_ptr<const GpuMachine> machine,
               std::chrono::milliseconds timeout);
  /// Leaves, if it has not left yet.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Holds the communicator for one operation. Another thread, or a forked child, gets none: they
  /// would share buffers and sequence numbers with the operation. Cost  one locked instruction
  class Occupancy {
   public:
    explicit Occupancy(Communicator& communicator);
    ~Occupancy() {
      if (communicator_) communicator_->occupied_.store(false, std::memory_order_release);
    }
    Occupancy(const Occupancy&) = delete;
    Occupancy& operator=(const Occupancy&) = delete;
    bool granted() const { return communicator_ != nullptr; }
    /// Errors  kUnsupported      another thread runs an operation on it
    ///         kInvalidArgument  this is a child of the process that made it
    Status Check() const;

   private:
    Communicator* communicator_ = nullptr;  // null: it was refused
    const ForkGuard* fork_guard_;
  };

  const Identity& identity() const { return identity_; }
  const Origin& origin() const { return origin_; }
  const plan::ChannelPlan& plan() const { return plan_; }
  const PeerTable& peer_table() const { return peer_table_; }
  /// The machine that its ranks play; null: they are in CPU memory.
  const GpuMachine* machine() const { return machine_.get(); }
  Control& control() const { return *control_; }
  transport::Links& links() { return *links_; }
  const HostMemory& host_memory() const { return host_; }
  /// How this rank waits for others of its host before it sleeps.
  collective::Spinner& spinner() { return spinner_; }
  std::chrono::milliseconds timeout() const { return timeout_; }
  /// Of the operations that follow. By the thread that calls them.
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  /// Tells the process's profiler, if there is one, that the communicator stands. Once, before its
  /// first operation, which does it where the user gives no name. \param name  the user's, or null
  void StartProfile(const char* name);

  /// The plug-in that chooses how collectives run; null: none. Before the first operation.
  void SetTuner(std::unique_ptr<TunerSession> tuner);

  /// The time of now, for SetEnqueued. Cost  13 ns
  static std::uint64_t EnqueuedNow() { return os::Ticks(); }
  /// The operations that follow were given to a stream or queue then, for traces; 0: they begin
  /// when they are called. By the thread that calls them.
  void SetEnqueued(std::uint64_t ticks) { control_->doing().set_enqueued(ticks); }

  // Operations. Each blocks until this rank's part is done: its output is complete and its input no
  // longer needed. One thread at a time. How buffers lie and what may be in place:
  // collective/call/call.hpp. Errors of all of them:
  //   kInvalidArgument  the call makes no sense; nothing happened
  //   kUnsupported      another thread is in an operation; nothing happened
  //   kProtocol         a rank called something else; names the ranks and both calls
  //   kTimeout          names who is awaited; kPeerLost  who is gone; kAborted  who aborted and why
  // After any but the first two the communicator has failed on all ranks, and stays so.

  /// Every rank gets the reduction over all.
  Status AllReduce(Call call) { return RunAs(CallKind::kAllReduce, call); }
  /// The root gets it.
  Status Reduce(Call call) { return RunAs(CallKind::kReduce, call); }
  /// Rank r gets the r-th block of it.
  Status ReduceScatter(Call call) { return RunAs(CallKind::kReduceScatter, call); }
  /// Every rank gets the root's input.
  Status Broadcast(Call call) { return RunAs(CallKind::kBroadcast, call); }
  /// Every rank gets the inputs of all, in the order of their ranks.
  Status AllGather(Call call) { return RunAs(CallKind::kAllGather, call); }
  /// The root gets them.
  Status Gather(Call call) { return RunAs(CallKind::kGather, call); }
  /// Rank r gets the r-th block of the root's input.
  Status Scatter(Call call) { return RunAs(CallKind::kScatter, call); }
  /// Rank r gets the r-th block of every rank's input, in the order of the ranks.
  Status AllToAll(Call call) { return RunAs(CallKind::kAllToAll, call); }
  Status AllToAllV(AllToAllVCall call) { return Run(std::move(call)); }
  /// Returns when all ranks have called it.
  Status Barrier() { return Run(Call{.kind = CallKind::kBarrier}); }
  /// Returns when the data may be overwritten, which may be before `to` has received them.
  Status Send(Rank to, View data, std::size_t count, DataType type) {
    return Run(Transfer{.peer = to, .sends = true, .from = data, .count = count, .type = type});
  }
  Status Receive(Rank from, std::span<std::byte> data, std::size_t count, DataType type) {
    return Run(Transfer{.peer = from, .to = data, .count = count, .type = type});
  }

  /// The place of this rank in every call.
  collective::CallPlace place() const { return {identity_.rank, identity_.size}; }

  /// Announces memory that will be used often. Memory in an allocation of RegisteredHeap is then
  /// not staged by collectives of one host, where all ranks have registered theirs, and messages
  /// from it are copied once; other memory is accepted as it is. Local, costs microseconds. Any
  /// thread. The same memory again gives the same registration, which then wants to be ended as
  /// often. \param memory not empty; outlives the registration, which ends with Deregister or with
  /// this Errors kInvalidArgument empty; or why the communicator has failed
  Result<std::uint64_t> Register(View memory);
  /// No operation that uses the memory is running. Errors  kInvalidArgument  no such registration
  Status Deregister(std::uint64_t registration) { return host_.buffers().Deregister(registration); }

  /// Memory that peers may write to (Put), the same window on all ranks by the order in which each
  /// opens its windows. Local. Any thread. \param memory  as of Register, until CloseWindow
  /// \param flags  the caller's, kept with the window
  Result<std::uint32_t> OpenWindow(std::span<std::byte> memory, std::uint32_t flags);
  /// Errors  kInvalidArgument  no such window, or not any more
  Status CloseWindow(std::uint32_t window);
  const OneSided& one_sided() const { return one_sided_; }

  /// The communicator's part of this host's memory, bytes.
  struct MemoryUse {
    std::uint64_t working = 0;  ///< its own, of the last operations
    std::uint64_t shared = 0;   ///< with the other ranks of the host
  };
  MemoryUse memory_use() const;  ///< any thread
  /// Gives the working memory back; operations take it again. The rank's thread, between them.
  /// Errors  as of Occupancy
  Status FreeWorkingMemory();

  /// Any of the above.
  Status Run(const Work& work);
  Status Run(const Call& call);
  /// Sends and receives that run together, in whatever order their peers come to them. If they all
  /// have links already, it takes no memory.
  Status Run(std::span<const Transfer> transfers);

  // The operations, for several ranks and calls on one thread (group.hpp).
  /// Whether one of the algorithms that may run the call can.
  bool CanRun(const Call& call) const {
    return machine_ ? machine_->WayOf(call).ok() : comm::CanRun(call, layout_, tuner_);
  }
  /// Refuses what makes no sense. Errors  kInvalidArgument; or why the communicator has failed.
  Status Validate(const Work& work) const;
  /// Whether `work` is a collective without elements, which is done with this: it waits for no
  /// rank, and counts as one of those that all ranks call. Those before must be done.
  bool Skips(const Work& work);
  /// The call made ready to run, as this communicator's next operation. Those before must be done.
  Result<std::unique_ptr<collective::Operation>> Prepare(const Work& work);
  /// Sends and receives that run together.
  Result<std::unique_ptr<collective::Operation>> Prepare(std::span<const Transfer> transfers);
  /// Puts, or waits for signals, that run together. Not empty.
  std::unique_ptr<collective::Operation> Prepare(std::vector<Put> puts);
  std::unique_ptr<collective::Operation> Prepare(std::vector<SignalWait> waits);
  /// Ok while it is worth going on: not failed, not aborted, in time.
  Status Check(Instant deadline, const collective::Operation& running) {
    return inquiry_.Check(deadline, timeout_, running);
  }
  /// The run is not over at once.
  void StillRuns() { control_->doing().Waits(); }
  /// The run has come to its end.
  void Finished();
  /// Makes of a failed run the communicator's failure, on all ranks, and gives its best reason.
  /// \param ended  that has failed
  Error Conclude(const Error& error, const collective::Operation& ended);

  /// Leaves in good order, unless it has failed or was aborted. Nothing runs on it now or later.
  void Leave();

  /// Fails the communicator on all ranks. Any thread, also while another is inside AllReduce.
  void Abort(const std::string& why);
  /// The same, and known as what this rank wanted: with all ranks that have revoked it, it can be
  /// split nevertheless. Any thread.
  void Revoke();
  bool revoked() const { return revoked_.load(std::memory_order_acquire); }
  /// The reason why it has failed, if it has. Any thread.
  std::optional<Error> failure() const { return control_->failure(); }

 private:
  using Operation = collective::Operation;
  /// The part of this rank in a call that does not stay on one host: made once for calls of a
  /// shape.
  struct Program {
    struct Stage {
      std::shared_ptr<const collective::Flow> flow;  ///< over links; null: on the host
      collective::HostPart on_host = {};
    };
    std::size_t scratch_count = 0;
    std::vector<Stage> stages = {};
    MachineWay on_machine = {};
  };
  /// The properties that a program depends on, beside those that never change: kind, count, bytes
  /// of an element, root, how buffers lie, and the algorithms that may run it.
  using ProgramKey = std::tuple<CallKind, std::size_t, std::size_t, Rank, collective::Overlap,
                                std::uint32_t, collective::TunerChoice>;

  Status RunAs(CallKind kind, Call& call) {
    call.kind = kind;
    return Run(call);
  }
  bool Skips(const Call& call);
  Status RunChecked(const Call& call);
  /// With the choice of the tuner. \pre  there is one
  Call Tuned(const Call& call) const;
  void LogChoice(plan::Function function, const Call& tuned) const;
  Status ValidateCall(const Call& call) const;
  Status ValidatePortions(const AllToAllVCall& call) const;
  Status ValidateTransfer(const Transfer& transfer) const;
  Status ValidatePeer(Rank peer, const Signal& signal) const;
  OneSided::PeerMemory MemoryOfPeers();
  Result<std::unique_ptr<Operation>> PrepareCall(const Call& call);
  /// Counts the call as this rank's next, and writes it down.
  collective::Fingerprint Begin(const Call& call);
  /// \pre  there is a fault of this rank
  void StrikeAt(CallKind kind);
  Status RunPrepared(Operation& operation);
  collective::Algorithm AlgorithmOnHost(const Call& call) const;
  void StartOnHost(const Call& call);
  Result<std::unique_ptr<Operation>> OnHost(const Call& call);
  Result<std::unique_ptr<Operation>> BeyondHost(const Call& call);
  Result<std::unique_ptr<Operation>> PreparePortions(const AllToAllVCall& call);
  /// The maker of the links to those of `peers` to which there is none; null if there are all.
  /// An error fails the communicator on all ranks.
  Result<std::unique_ptr<BlockingTask>> LinksTo(std::vector<Rank> peers, std::string purpose);
  Result<std::unique_ptr<BlockingTask>> BeginLinks(std::vector<Rank> peers, std::string purpose);
  /// Runs `then` at once if there are links to all of `peers`, else makes them first.
  Result<std::unique_ptr<Operation>> WithLinks(
      std::vector<Rank> peers, std::string purpose,
      std::function<Result<std::unique_ptr<Operation>>()> then);
  /// Runs those messages at once to whose peers there are links, and the others as theirs are made.
  Result<std::unique_ptr<Operation>> Exchange(std::vector<collective::Message> messages,
                                              std::string purpose);
  /// The counter of a message; null: there is none.
  collective::SentBytes* CountsMessage(const Transfer& transfer);
  /// The same of one of all_to_all_v.
  void CountPortion(collective::Message& message);
  /// Fills `transfers_`, and writes down that they are called.
  void CollectMessages(std::span<const Transfer> transfers);
  /// Runs those, as Exchange does.
  Result<std::unique_ptr<Operation>> ExchangeCollected();
  /// The beginning of `buffer`, one of the two below, which grows as needed.
  std::span<std::byte> WorkingMemory(Bytes& buffer, std::size_t bytes);
  View Staged(const Call& call);
  Call WithData(Call call);
  collective::LinkTo LinkTo() const;
  /// Writes down what this rank calls, for those who ask. Arguments  as of FlightRecorder::Begin
  void Calls(const collective::Fingerprint& call, std::uint64_t bytes, std::uint32_t messages = 0,
             Rank peer = Rank{});
  /// The same for the profiler, if there is one.
  void Profiles(const Call& call);
  void Profiles(std::span<const collective::Message> messages);
  Profile::Way ProfiledWay(const Call& call) const;
  Result<std::shared_ptr<const Program>> ProgramFor(const Call& call,
                                                    const collective::Overlap& overlap);
  /// The parts of a call; on a machine also how NCCL would run it.
  Result<collective::CallParts> PartsOf(const Call& call, Program& program) const;
  void WriteTraffic() const;
  /// The same operation; with PACE it lasts as long as NCCL's model of times predicts.
  Result<std::unique_ptr<Operation>> Paced(Result<std::unique_ptr<Operation>> started,
                                           const Call& call, const MachineWay& way);
  /// Of `call`, whose buffers are those of `task`.
  Result<std::unique_ptr<Operation>> StartStage(const Program::Stage& stage, const Call& call,
                                                collective::Task task, bool is_first);
  void StartPartOnHost(const collective::HostPart& part, const Call& call,
                       const collective::Task& task, bool is_first);

  const ForkGuard fork_guard_ = {};
  std::atomic<bool> occupied_{false};  // an operation runs
  Origin origin_;                      // its process's service thread serves the rest: it goes last
  Identity identity_;
  std::unique_ptr<Control> control_;
  PeerTable peer_table_;
  std::shared_ptr<const GpuMachine> machine_;
  std::unique_ptr<MachineTraffic> traffic_;  // of the machine
  plan::ChannelPlan plan_;
  collective::Layout layout_;
  collective::Tuner tuner_;
  collective::ScoreTable scores_;  // where ranks of this host share memory
  std::unique_ptr<transport::Links> links_;
  collective::Spinner spinner_;
  HostMemory host_;
  OneSided one_sided_;
  Inquiry inquiry_;
  std::chrono::milliseconds timeout_;
  std::atomic<bool> revoked_{false};
  std::unique_ptr<Profile> profile_;      // null: none, or not told yet
  bool profiles_ = false;                 // there is a profiler, which has not refused
  std::unique_ptr<TunerSession> tuning_;  // null: none is asked
  std::optional<RankFault> fault_;        // of this rank
  /// The error with which an operation of this rank failed. Calls return it until the service
  /// thread, which may be late, has failed the control network: the engine cannot take another
  /// call.
  std::optional<Error> concluded_;
  std::uint64_t shortages_ = 0;  // of the process, when the communicator was formed
  std::uint64_t sequence_ = 0;   // collectives begun
  static constexpr std::size_t kProgramsMax = 64;
  std::map<ProgramKey, std::shared_ptr<const Program>> programs_;
  std::vector<collective::Message> transfers_;  // of the messages that run
  collective::Messages messages_;               // and they themselves, where links were there
  Bytes scratch_;  // of the operation that runs; kept, since new memory costs more than old
  Bytes staging_;  // a copy of its input, where one is needed
  std::atomic<std::uint64_t> working_bytes_{0};  // of both
  bool left_ = false;
};

}  // namespace ringlet::comm
