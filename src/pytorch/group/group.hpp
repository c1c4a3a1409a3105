// The parts of a process group without tensors: rank, communicator, turns, end.
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

class RankGroup {
 public:
  struct Options {
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::string name;                          ///< for messages
    std::chrono::milliseconds timeout{};       ///< default for operations
    std::chrono::milliseconds init_timeout{};  ///< for forming a communicator
    std::uint32_t ranks_per_root = 128;
    std::shared_ptr<comm::Beacon> beacon = nullptr;  ///< null: peers cannot detect this rank's end
    std::uint64_t process = 0;                       ///< from ProcessNumber
  };

  /// \param store  may have served earlier generations of the group
  RankGroup(Options options, std::shared_ptr<KeyStore> store);
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  const Options& options() const { return options_; }
  /// The store of this generation.
  KeyStore& store() { return *store_; }
  SerialExecutor& serial_executor() { return *serial_executor_; }
  Presence& presence() { return presence_; }
  /// Announces to peers that this rank has created the group. Call it first. Errors  the store's
  Status Announce();
  /// Announces to peers that this rank leaves. Has no effect if the store has ended.
  void Leave();
  /// The program lines of mismatched calls.
  const std::shared_ptr<CallLines>& call_lines() const { return call_lines_; }
  /// Threads for callbacks, which may call this group and wait for the results.
  Helpers& helpers() { return *helpers_; }
  std::chrono::milliseconds timeout() const { return std::chrono::milliseconds(timeout_ms_); }
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ms_ = timeout.count(); }
  const comm::ForkGuard& fork_guard() const { return fork_guard_; }
  std::stop_token ending() const { return ending_.get_token(); }

  /// Returns the communicator of all ranks, formed on first use. Call it only inside a turn.
  /// \param call  number of this rank's call that needs it
  /// Errors  as Form; kPeerLost, kAborted  a required rank will not join; the error is permanent
  Result<comm::Communicator*> Main(std::uint64_t call = 0);
  /// Returns the number of the next call. Equal calls get equal numbers on all ranks. Any thread.
  std::uint64_t NextCall() { return ++calls_; }
  /// Records that this rank has refused a call that other ranks may have begun; returns at once.
  /// The group fails on all ranks with the reason, unless this rank makes another call or no rank
  /// made this one.
  void Refused(std::string why);
  /// The reason why the group has failed, if so. Any thread.
  std::optional<Error> failure() const;
  /// True if an operation of this rank has formed the communicator. Any thread.
  bool is_formed() const { return formed_; }

  /// The communicator if it was formed, even if failed; else null. Call it only inside a turn.
  comm::Communicator* formed() const { return main_.get(); }
  /// Zero before the communicator is formed. Any thread.
  comm::Communicator::MemoryUse memory_use() const;

  /// Registers `memory`, if it is from TensorMemory, so that operations use it without a copy. Call
  /// it only inside a turn, after Main.
  void Announce(View memory) { announcements_.EnsureRegistered(*main_, memory); }

  /// Makes `child` a group of some of this group's ranks. Its communicator uses this one's
  /// connections, without the store. The child's ranks call it in the same order. Blocks.
  /// \param ranks  of this group, ascending
  Status CreateChild(RankGroup& child, const std::vector<std::uint32_t>& ranks);

  /// Fails running operations on all ranks. Any thread.
  void Abort(const std::string& why);

  /// Ends in good order: submitted jobs and callbacks run to their end, except a callback that
  /// calls this function. No thread submits any more.
  void Close();

 private:
  /// Forms the communicator, or fails as soon as a required rank is known not to join.
  Result<std::unique_ptr<comm::Communicator>> FormMain(std::uint64_t call);
  /// Runs in the turn of a refused call.
  void PublishRefusal(std::uint64_t call, const std::string& why);
  bool HasRankInLaterCall(std::uint64_t call);

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
  mutable std::mutex mutex_;  // guards the two fields below, which Abort reads
  std::unique_ptr<comm::Communicator> main_;
  std::optional<Error> failure_;
  Announcements announcements_;  // to the communicator, which outlives it
  std::unique_ptr<Helpers> helpers_ = std::make_unique<Helpers>();
  std::optional<SerialExecutor> serial_executor_{*helpers_};
};

}  // namespace ringlet::torch_api
