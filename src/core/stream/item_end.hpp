// The end of a stream's item. Other items wait for it, and it may carry a failure.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"

namespace ringlet::stream {

class ItemEnd;
/// Shared by the item that reaches it and by all items that wait for it.
using ItemEndRef = std::shared_ptr<ItemEnd>;

/// True if failures are forgiven. An order and the failures of its items share it. A failure does
/// not hold the order itself, because order.last() may hold the failure, which would be a cycle.
using FailureTolerance = std::shared_ptr<std::atomic<bool>>;

/// Items of different streams that run in sequence, in issue order. A communicator's operations
/// form one. Any thread.
class SerialOrder {
 public:
  /// Returns the end of the item that was issued last. Null before the first item.
  ItemEndRef last() const;
  /// Makes `next` the last item. The issuing thread calls it and prevents concurrent issues.
  void Follow(ItemEndRef next);

  /// Makes the owner responsible for failures of its items. Streams continue behind such failures.
  void TolerateFailures() { forgiven_->store(true, std::memory_order_release); }
  bool forgiven() const { return forgiven_->load(std::memory_order_acquire); }
  const FailureTolerance& failure_tolerance() const { return forgiven_; }

 private:
  mutable std::mutex mutex_;
  ItemEndRef last_;
  const FailureTolerance forgiven_ = std::make_shared<std::atomic<bool>>(false);
};

/// The reason why an item failed. All items that failed because of it share it.
struct ItemFailure {
  Error error;
  std::vector<FailureTolerance> sources = {};  ///< of the orders of the item that failed first

  bool forgiven() const;
};
using FailureRef = std::shared_ptr<const ItemFailure>;

/// Pending, then done or failed, once. Any thread.
class ItemEnd {
 public:
  /// Returns an end that is done.
  static ItemEndRef At(Instant when);

  void Complete(Instant when) { End(when, nullptr); }
  void Fail(Instant when, FailureRef why) { End(when, std::move(why)); }

  bool pending() const { return !ended_.load(std::memory_order_acquire); }
  /// Waits without a deadline, because the program determines the duration of the item.
  void Wait() const { ended_.wait(false, std::memory_order_acquire); }
  /// Returns null if the item is done or its failure is forgiven. \pre  not pending
  FailureRef failure() const;
  /// Returns the failure, forgiven or not. Null if the item succeeded. \pre  not pending
  const FailureRef& cause() const { return failure_; }
  /// Returns the time of the end. \pre  not pending
  Instant when() const { return when_; }

 private:
  void End(Instant when, FailureRef why);

  FailureRef failure_;  // written before `ended_`, as is the next one
  Instant when_{};
  std::atomic<bool> ended_{false};
};

/// Returns true if the item is pending or has a failure to report.
bool IsPendingOrFailed(const ItemEndRef& completion);

}  // namespace ringlet::stream
