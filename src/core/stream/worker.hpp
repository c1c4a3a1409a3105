// The thread of a stream and the queue of its items.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "stream/host_task.hpp"

namespace ringlet::stream {

/// One entry of a stream. It waits, runs its tasks in order, and is then done.
struct StreamItem {
  std::vector<ItemEndRef> after = {};
  /// Also predecessors, but their failures do not make this item fail.
  std::vector<ItemEndRef> after_any_end = {};
  std::vector<TaskRef> tasks = {};
  /// The serial orders of the tasks that were not forgiven when the item was issued.
  std::vector<std::shared_ptr<SerialOrder>> sources = {};
  /// Keeps the objects that a graph's tasks use alive until the item has run.
  std::shared_ptr<const void> keeps = {};
  ItemEndRef done = std::make_shared<ItemEnd>();
  std::uint64_t enqueued = 0;  ///< by os::Ticks; Push sets it
};

/// Runs items in the order of their arrival. The first item starts its thread. Any thread.
class StreamWorker {
 public:
  /// Maximum number of waiting items. Bounds memory. Programs issue fewer items ahead.
  static constexpr std::size_t kItemsMax = 16384;

  /// \param keeps_failure  after a failure, later items fail too, until ClearFailure
  StreamWorker(int device, bool keeps_failure) : device_(device), keeps_failure_(keeps_failure) {}
  /// \pre  never started, or ended
  ~StreamWorker() = default;
  StreamWorker(const StreamWorker&) = delete;
  StreamWorker& operator=(const StreamWorker&) = delete;

  /// Starts the thread, unless it is started. One thread at a time.
  /// Errors  kSystem  a limit is reached
  Status Start();
  bool started() const { return started_; }
  /// \pre  started, not closed
  void Push(StreamItem item);
  bool HasRoom() const;
  /// Waits until the queue has room or is closed.
  void AwaitRoom() const;

  /// Makes the thread end after its queued items.
  void Close();
  /// Returns true if the thread has finished its work, so that destruction does not wait.
  bool ended() const { return !started_ || ended_.load(std::memory_order_acquire); }

  /// Returns the failure that prevents items from running. Null if none.
  FailureRef failure() const;
  /// Called when the failure has been reported.
  void ClearFailure();
  /// Returns the message of the last failure, reported or not. Empty before the first failure.
  std::string last_error() const;

 private:
  void Serve();
  bool Take(StreamItem& item);
  void RunItem(StreamItem& item);
  FailureRef WaitForPredecessors(const StreamItem& item) const;
  void KeepFailure(const FailureRef& failure);

  const int device_;
  const bool keeps_failure_;
  bool started_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable has_work_;
  mutable std::condition_variable has_room_;
  std::deque<StreamItem> items_;
  bool closed_ = false;
  FailureRef failure_;
  std::string last_error_;
  std::atomic<bool> ended_{false};
  std::jthread thread_;  // last member, because it is joined first
};

}  // namespace ringlet::stream
