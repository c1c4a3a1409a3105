// A formed communicator, as one rank holds it.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "collective/call/operation.hpp"
#include "comm/backend/backend.hpp"
#include "comm/backend/host_memory.hpp"
#include "comm/backend/links_on_demand.hpp"
#include "comm/control/control.hpp"
#include "comm/peers/peer_table.hpp"
#include "comm/plugin/tuner.hpp"
#include "comm/process/config.hpp"
#include "comm/run/inquiry.hpp"
#include "comm/run/messenger.hpp"
#include "comm/run/observer.hpp"
#include "comm/run/one_sided.hpp"
#include "comm/run/tuned_calls.hpp"
#include "comm/run/work.hpp"
#include "comm/service/occupancy.hpp"
#include "os/clock.hpp"
#include "plan/channels/channel_plan.hpp"

namespace ringlet::comm {

struct Identity {
  Rank rank{};
  std::uint32_t size = 0;
  std::uint32_t device = 0;
  std::uint64_t magic = 0;  ///< public name of the communicator, the same on all ranks
};

/// The facts about a communicator that never change.
struct Description {
  Origin origin;
  PeerTable peer_table;
  plan::ChannelPlan plan;
};

class Communicator {
 public:
  Communicator(Description description, std::unique_ptr<Control> control,
               std::unique_ptr<transport::Links> links, HostMemoryParts memory,
               std::shared_ptr<const GpuMachine> machine, std::chrono::milliseconds timeout);
  /// Leaves, if it has not left yet.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  Identity identity() const {
    const Config& config = origin().config;
    return {Rank{config.rank}, config.size, config.device, origin().credentials.magic};
  }
  /// The place of this rank in every call.
  collective::CallPlace place() const { return {Rank{origin().config.rank}, origin().config.size}; }
  const Origin& origin() const { return description_.origin; }
  const plan::ChannelPlan& plan() const { return description_.plan; }
  const PeerTable& peer_table() const { return description_.peer_table; }
  const Backend& backend() const { return *backend_; }
  Control& control() const { return *control_; }
  transport::Links& links() const { return links_.links(); }
  const HostMemory& host_memory() const { return host_memory_; }
  /// Registered memory, and the windows that peers write to. Any thread.
  OneSided& one_sided() { return one_sided_; }
  /// How this rank waits for others of its host before it sleeps.
  collective::Spinner& spinner() { return spinner_; }
  /// Held by a caller that uses the communicator outside an operation.
  SingleUse& single_use() { return use_; }
  std::chrono::milliseconds timeout() const { return links_.timeout(); }
  /// Of the operations that follow. By the thread that calls them.
  void set_timeout(std::chrono::milliseconds timeout) { links_.set_timeout(timeout); }

  /// Announces the communicator to profilers. Once, before its first operation, which does it where
  /// the user gives no name. \param name  the user's, or null
  void Announce(const char* name);
  /// The plug-in that chooses how collectives run; null: none. Before the first operation.
  void SetTuner(std::unique_ptr<TunerSession> tuner);

  /// The time of now, for SetEnqueued. Cost  13 ns
  static std::uint64_t EnqueuedNow() { return os::Ticks(); }
  /// The operations that follow were given to a stream or queue then, for traces; 0: they begin
  /// when they are called. By the thread that calls them.
  void SetEnqueued(std::uint64_t ticks) { control_->doing().set_enqueued(ticks); }

  // Operations. Each blocks until this rank's part is done: its output is complete and its input no
  // longer needed. One thread at a time. calls.hpp has a function for each kind. How buffers lie
  // and what may be in place: collective/call/call.hpp. Errors of all of them:
  //   kInvalidArgument  the call makes no sense; nothing happened
  //   kUnsupported      another thread is in an operation; nothing happened
  //   kProtocol         a rank called something else; names the ranks and both calls
  //   kTimeout          names who is awaited; kPeerLost  who is gone; kAborted  who aborted and why
  // After any but the first two the communicator has failed on all ranks, and stays so.
  Status Run(const Work& work);
  Status Run(const Call& call);
  /// Sends and receives that run together, in whatever order their peers come to them. If they all
  /// have links already, it takes no memory.
  Status Run(std::span<const Transfer> transfers);

  // The operations, for several ranks and calls on one thread (group.hpp). The caller holds the
  // communicator (single_use) from Start to Finish or Conclude.
  /// Refuses what makes no sense. Errors  kInvalidArgument; or why the communicator has failed.
  Status Validate(const Work& work) const;
  /// Whether `work` is a collective without elements. Then it counts as one of those that all ranks
  /// call, and is done: it waits for no rank. The last operation is done.
  bool FinishIfEmpty(const Work& work);
  bool FinishIfEmpty(const Call& call);
  /// Starts the next operation. \pre  Validate; the last operation is done
  Result<Started> Start(const Work& work);
  Status Start(const Call& call, Started& started);
  /// Sends and receives that run together.
  Result<Started> Start(std::span<const Transfer> transfers);
  /// Puts, or waits for signals, that run together. Not empty.
  using OneSidedWork = std::variant<std::vector<Put>, std::vector<SignalWait>>;
  Started Start(OneSidedWork work);
  /// Ok while it is worth going on: not failed, not aborted, in time.
  Status Check(Instant deadline, const collective::Operation& running) {
    return inquiry_.Check(deadline, timeout(), running);
  }
  /// The operation is not over at once.
  void NoteWait() { control_->doing().Waits(); }
  /// The operation is over.
  void Finish();
  /// Fails the communicator on all ranks because an operation has failed. Gives the best reason
  /// that any rank knows. \param ended  the operation
  Error Conclude(const Error& error, const collective::Operation& ended);

  /// The communicator's part of this host's memory, bytes.
  struct MemoryUse {
    std::uint64_t working = 0;  ///< its own, of the last operations
    std::uint64_t shared = 0;   ///< with the other ranks of the host
  };
  MemoryUse memory_use() const;  ///< any thread
  /// Gives the working memory back; operations take it again. The rank's thread, between them.
  /// Errors  as of Occupancy
  Status FreeWorkingMemory();

  /// Leaves in good order, unless it has failed or was aborted. Nothing runs on it now or later.
  void Leave();
  /// Fails the communicator on all ranks. Any thread, also while another is inside an operation.
  void Abort(const std::string& why);
  /// The same, and known as what this rank wanted: with all ranks that have revoked it, it can be
  /// split nevertheless. Any thread.
  void Revoke();
  bool revoked() const { return revoked_.load(std::memory_order_acquire); }
  /// The reason why it has failed, if it has. Any thread.
  std::optional<Error> failure() const { return control_->failure(); }

 private:
  /// Records what this rank calls, for those that ask. Arguments  as of FlightRecorder::Begin
  void Record(const collective::Fingerprint& call, std::uint64_t bytes, std::uint32_t messages = 0,
              Rank peer = Rank{});
  /// Counts the call as this rank's next and records it.
  void Begin(const Call& call);
  Result<Started> Start(const AllToAllVCall& call);
  Status RunToEnd(collective::Operation& operation);

  SingleUse use_;
  const Description description_;  // its process's service thread serves the rest: it goes last
  const std::unique_ptr<Control> control_;
  collective::Spinner spinner_;
  HostMemory host_memory_;
  LinksOnDemand links_;
  const std::unique_ptr<Backend> backend_;
  Messenger messenger_;
  OneSided one_sided_;
  Inquiry inquiry_;
  std::vector<std::unique_ptr<Observer>> observers_;
  std::unique_ptr<TunedCalls> tuned_;  // null: no plug-in chooses
  std::uint64_t sequence_ = 0;         // collectives begun
  std::atomic<bool> revoked_{false};
  bool left_ = false;
};

}  // namespace ringlet::comm
