// The thread of a stream, with the queue of what it has to run.
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

/// One entry of a stream: waits, then runs its tasks in order, then is done.
struct StreamItem {
  std::vector<ItemEndRef> after = {};
  /// Of the same, those whose failure is not this item's.
  std::vector<ItemEndRef> after_any_end = {};
  std::vector<TaskRef> tasks = {};
  /// The serial orders of the tasks that were not forgiven when it was issued.
  std::vector<std::shared_ptr<SerialOrder>> sources = {};
  /// Lives until the item has run: what a graph's tasks use.
  std::shared_ptr<const void> keeps = {};
  ItemEndRef done = std::make_shared<ItemEnd>();
  std::uint64_t enqueued = 0;  ///< by os::Ticks; Push sets it
};

/// Runs items in the order in which they come, on a thread that starts with the first. Any thread.
class StreamWorker {
 public:
  /// Items that may wait. More than any program has ahead of itself; bounds the memory.
  static constexpr std::size_t kItemsMax = 16384;

  /// \param keeps_failure  an item fails where one before it has, until ClearFailure
  StreamWorker(int device, bool keeps_failure) : device_(device), keeps_failure_(keeps_failure) {}
  /// \pre  never started, or ended
  ~StreamWorker() = default;
  StreamWorker(const StreamWorker&) = delete;
  StreamWorker& operator=(const StreamWorker&) = delete;

  /// Starts the thread, if that has not been done. One thread at a time.
  /// Errors  kSystem  a limit is reached
  Status Start();
  bool started() const { return started_; }
  /// \pre  started, not closed
  void Push(StreamItem item);
  bool HasRoom() const;
  /// Waits until fewer than kItemsMax wait, or it is closed.
  void AwaitRoom() const;

  /// The thread ends when it has run what it has.
  void Close();
  /// The thread is not needed any more: destruction does not wait.
  bool ended() const { return !started_ || ended_.load(std::memory_order_acquire); }

  /// The failure that keeps items from running; null: none.
  FailureRef failure() const;
  /// It has been reported.
  void ClearFailure();
  /// The sentence of the last failure, whether reported or not; "": none yet.
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
  std::jthread thread_;  // the last member: it is joined first
};

}  // namespace ringlet::stream
