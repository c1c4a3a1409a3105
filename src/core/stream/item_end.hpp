// The end of an item of a stream, which others wait for, and the failure that it may end with.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"

namespace ringlet::stream {

class ItemEnd;
/// Shared by the item that reaches it and by all that wait for it.
using ItemEndRef = std::shared_ptr<ItemEnd>;

/// Whether failures are forgiven. Shared by an order and the failures of its items, which do not
/// keep the order: it may have them as its last.
using Forgiveness = std::shared_ptr<std::atomic<bool>>;

/// Items of different streams that run one after the other, in the order in which they are issued:
/// the operations of a communicator. Any thread.
class SerialOrder {
 public:
  /// The end of the last item that was issued; null before the first.
  ItemEndRef last() const;
  /// Makes `next` the last. By who issues, with no other issuing meanwhile.
  void Follow(ItemEndRef next);

  /// Failures of its items are the owner's affair from now on: streams go on behind them.
  void Forgive() { forgiven_->store(true, std::memory_order_release); }
  bool forgiven() const { return forgiven_->load(std::memory_order_acquire); }
  const Forgiveness& forgiveness() const { return forgiven_; }

 private:
  mutable std::mutex mutex_;
  ItemEndRef last_;
  const Forgiveness forgiven_ = std::make_shared<std::atomic<bool>>(false);
};

/// The reason why an item failed, the same for all that failed because of it.
struct ItemFailure {
  Error error;
  std::vector<Forgiveness> sources = {};  ///< of the orders of the item that failed first

  bool forgiven() const;
};
using FailureRef = std::shared_ptr<const ItemFailure>;

/// Pending, then done or failed, once. Any thread.
class ItemEnd {
 public:
  /// One that is done.
  static ItemEndRef At(Instant when);

  void Complete(Instant when) { End(when, nullptr); }
  void Fail(Instant when, FailureRef why) { End(when, std::move(why)); }

  bool pending() const { return !ended_.load(std::memory_order_acquire); }
  /// Waits as long as the item takes, which is the program's affair.
  void Wait() const { ended_.wait(false, std::memory_order_acquire); }
  /// Null where it is done, or what failed is forgiven. \pre  not pending
  FailureRef failure() const;
  /// The reason why the item did not end well, forgiven or not; null: it did. \pre  not pending
  const FailureRef& cause() const { return failure_; }
  /// When it ended. \pre  not pending
  Instant when() const { return when_; }

 private:
  void End(Instant when, FailureRef why);

  FailureRef failure_;  // this and the next written before `ended_`
  Instant when_{};
  std::atomic<bool> ended_{false};
};

/// Whether it is to be waited for, or its failure to be heard of.
bool Matters(const ItemEndRef& completion);

}  // namespace ringlet::stream
