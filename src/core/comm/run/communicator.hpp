// A formed communicator, as the object of one rank.
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

/// The constant facts about a communicator.
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
  /// Returns the place of this rank in every call.
  collective::CallPlace place() const { return {Rank{origin().config.rank}, origin().config.size}; }
  const Origin& origin() const { return description_.origin; }
  const plan::ChannelPlan& plan() const { return description_.plan; }
  const PeerTable& peer_table() const { return description_.peer_table; }
  const Backend& backend() const { return *backend_; }
  Control& control() const { return *control_; }
  transport::Links& links() const { return links_.links(); }
  const HostMemory& host_memory() const { return host_memory_; }
  /// Returns registered memory, and the windows that peers write to. Any thread.
  OneSided& one_sided() { return one_sided_; }
  /// Returns the object that waits for other ranks of the host before this rank sleeps.
  collective::Spinner& spinner() { return spinner_; }
  /// A caller that uses the communicator outside an operation holds this.
  SingleUse& single_use() { return use_; }
  std::chrono::milliseconds timeout() const { return links_.timeout(); }
  /// Sets the time limit of later operations. Called by the thread that runs them.
  void set_timeout(std::chrono::milliseconds timeout) { links_.set_timeout(timeout); }

  /// Announces the communicator to profilers. Once, before its first operation, which announces it
  /// if the user sets no name. \param name  the user's, or null
  void Announce(const char* name);
  /// Sets the plug-in that chooses algorithms, or null. Called before the first operation.
  void SetTuner(std::unique_ptr<TunerSession> tuner);

  /// Returns the present time for SetEnqueued. Cost  13 ns
  static std::uint64_t EnqueuedNow() { return os::Ticks(); }
  /// Sets the time at which the next operations were issued to a stream or queue, for traces. 0:
  /// they begin when they are called. Called by the thread that runs them.
  void SetEnqueued(std::uint64_t ticks) { control_->doing().set_enqueued(ticks); }

  // Operations. Each blocks until this rank's part is done: its output is complete and its input no
  // longer needed. One thread at a time. calls.hpp has a function for each kind. The layout of
  // buffers and in-place operation: collective/call/call.hpp. Errors of all of them:
  //   kInvalidArgument  the call is invalid and has no effect
  //   kUnsupported      another thread is in an operation; no effect
  //   kProtocol         a rank called something else; names the ranks and both calls
  //   kTimeout, kPeerLost, kAborted  names the awaited, lost or aborting rank, with its reason
  // After any but the first two, the communicator has failed permanently on all ranks.
  Status Run(const Work& work);
  Status Run(const Call& call);
  /// Sends and receives that run together. Peers may call theirs in any order. Allocates no memory
  /// if all links exist.
  Status Run(std::span<const Transfer> transfers);

  // The steps of operations, for several ranks and calls on one thread (group.hpp). The caller
  // holds the communicator (single_use) from Start to Finish or Conclude.
  /// Errors  kInvalidArgument  `work` is invalid; or the reason why the communicator has failed.
  Status Validate(const Work& work) const;
  /// Returns true if `work` is a collective without elements. It then counts as a call of all ranks
  /// and is done, without a wait for any rank. \pre  the last operation is done
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
  /// Succeeds while the operation may continue: not failed, not aborted, in time.
  Status Check(Instant deadline, const collective::Operation& running) {
    return inquiry_.Check(deadline, timeout(), running);
  }
  /// Called if the operation does not end at once.
  void NoteWait() { control_->doing().Waits(); }
  /// Called when the operation is over.
  void Finish();
  /// Fails the communicator on all ranks because an operation has failed. Returns the best reason
  /// that any rank knows. \param ended  the operation
  Error Conclude(const Error& error, const collective::Operation& ended);

  /// The communicator's part of this host's memory, bytes.
  struct MemoryUse {
    std::uint64_t working = 0;  ///< its own, of the last operations
    std::uint64_t shared = 0;   ///< with the other ranks of the host
  };
  MemoryUse memory_use() const;  ///< any thread
  /// Frees the working memory. Later operations allocate it again. Called by the rank's thread
  /// between operations. Errors  as Occupancy
  Status FreeWorkingMemory();

  /// Leaves in good order, unless it has failed or was aborted. No operation runs now or later.
  void Leave();
  /// Fails the communicator on all ranks. Any thread, even during an operation of another thread.
  void Abort(const std::string& why);
  /// Aborts, and marks this as requested by this rank. If all ranks revoke a communicator, they can
  /// still split it. Any thread.
  void Revoke();
  bool revoked() const { return revoked_.load(std::memory_order_acquire); }
  /// Returns the reason if the communicator has failed. Any thread.
  std::optional<Error> failure() const { return control_->failure(); }

 private:
  /// Records this rank's call for later queries. Arguments  as FlightRecorder::Begin
  void Record(const collective::Fingerprint& call, std::uint64_t bytes, std::uint32_t messages = 0,
              Rank peer = Rank{});
  /// \pre  not empty
  void RecordMessages(std::span<const Transfer> transfers);
  /// Counts the call as this rank's next and records it.
  void Begin(const Call& call);
  Result<Started> Start(const AllToAllVCall& call);
  Status RunToEnd(collective::Operation& operation);

  SingleUse use_;
  const Description description_;  // destroyed last: its service thread serves the others
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
