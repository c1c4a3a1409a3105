// The parts of a process group apart from tensors: its seat, its communicator, its turn-taking, its
// end.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "pytorch/execution/helpers.hpp"
#include "pytorch/execution/serial_executor.hpp"
#include "pytorch/group/presence.hpp"
#include "pytorch/store/call_lines.hpp"
#include "pytorch/store/formation.hpp"
#include "pytorch/tensors/process.hpp"
#include "pytorch/tensors/tensor_memory.hpp"

namespace ringlet::torch_api {

class Group {
 public:
  struct Options {
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::string name;                          ///< for messages
    std::chrono::milliseconds timeout{};       ///< of operations that give none
    std::chrono::milliseconds init_timeout{};  ///< of forming a communicator
    std::uint32_t ranks_per_root = 128;
    std::shared_ptr<comm::Beacon> beacon = nullptr;  ///< null: others cannot see this rank's end
    std::uint64_t process = 0;                       ///< as of ProcessNumber
  };

  /// \param store  may have served earlier generations of the group
  Group(Options options, std::shared_ptr<KeyStore> store);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  const Options& options() const { return options_; }
  /// Of this generation.
  KeyStore& store() { return *store_; }
  SerialExecutor& serial_executor() { return *serial_executor_; }
  Presence& presence() { return presence_; }
  /// Tells the others that this rank has made the group. Call it first. Errors  the store's
  Status Announce();
  /// Tells the others that this rank leaves. Nothing happens where the store is gone.
  void Leave();
  /// For the error of calls that differ.
  const std::shared_ptr<CallLines>& call_lines() const { return call_lines_; }
  /// Threads for callbacks: they may call this group, and wait for what comes of that.
  Helpers& helpers() { return *helpers_; }
  std::chrono::milliseconds timeout() const { return std::chrono::milliseconds(timeout_ms_); }
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ms_ = timeout.count(); }
  const comm::ForkGuard& fork_guard() const { return fork_guard_; }
  std::stop_token ending() const { return ending_.get_token(); }

  /// The communicator of all ranks, formed by the first operation. Only from inside a turn.
  /// \param call  which of this rank's calls needs it
  /// Errors  as Form; kPeerLost, kAborted  a rank that it takes will not come; then the same error
  ///         again and again
  Result<comm::Communicator*> Main(std::uint64_t call = 0);
  /// The number of a call that is about to be submitted: ranks that call the same count alike. Any
  /// thread.
  std::uint64_t NextCall() { return ++calls_; }
  /// This rank has refused a call that others may have begun. Unless another one follows it here,
  /// or no rank did, the group fails on all ranks with the reason. Returns at once.
  void Refused(std::string why);
  /// Why the group does not work any more, if so. Any thread.
  std::optional<Error> failure() const;
  /// Whether an operation has asked for it on this rank. Any thread.
  bool is_formed() const { return formed_; }

  /// The same if it was formed, also when it has failed; else null. Only from inside a turn.
  comm::Communicator* formed() const { return main_.get(); }
  /// Zero before it is formed. Any thread.
  comm::Communicator::MemoryUse memory_use() const;

  /// Lets operations use `memory` where it lies, if it is of TensorMemory. Only from inside a turn,
  /// after Main.
  void Announce(View memory) { announcements_.Cover(*main_, memory); }

  /// Makes `child` a group of some of this one's ranks whose communicator comes from this one's
  /// connections, without the store. Called by the ranks of the child, in the same order. Blocks.
  /// \param ranks  of this group, ascending
  Status Beget(Group& child, const std::vector<std::uint32_t>& ranks);

  /// Fails what is under way, on all ranks. Any thread.
  void Abort(const std::string& why);

  /// Ends in good order: what was submitted runs to its end, callbacks too; but not the one from
  /// which this is called, if it is. No thread submits any more.
  void Close();

 private:
  /// Forms the communicator, or fails as soon as a rank that it takes is known not to come.
  Result<std::unique_ptr<comm::Communicator>> FormMain(std::uint64_t call);
  /// In the turn of a call that was refused.
  void TellWhoWaits(std::uint64_t call, const std::string& why);
  bool IsAwaitedInVain(std::uint64_t call);

  const Options options_;
  const std::shared_ptr<KeyStore> all_generations_;
  const std::shared_ptr<GenerationStore> store_;  // shared with the pairs' threads
  const comm::ForkGuard fork_guard_;
  std::atomic<std::int64_t> timeout_ms_;
  std::atomic<bool> formed_{false};
  std::stop_source ending_;
  std::stop_source closing_;
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<bool> has_refused_{false};
  Presence presence_;
  const std::shared_ptr<CallLines> call_lines_;
  mutable std::mutex mutex_;  // of the two below, which Abort reads
  std::unique_ptr<comm::Communicator> main_;
  std::optional<Error> failure_;
  Announcements announcements_;  // to the communicator, which outlives it
  std::unique_ptr<Helpers> helpers_ = std::make_unique<Helpers>();
  std::optional<SerialExecutor> serial_executor_{*helpers_};
};

}  // namespace ringlet::torch_api
