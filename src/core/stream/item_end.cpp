#include "stream/item_end.hpp"

#include <algorithm>
#include <utility>

namespace ringlet::stream {

ItemEndRef SerialOrder::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

void SerialOrder::Follow(ItemEndRef next) {
  const std::lock_guard lock(mutex_);
  last_.swap(next);
}

bool ItemFailure::forgiven() const {
  return std::any_of(sources.begin(), sources.end(), [](const FailureTolerance& source) {
    return source->load(std::memory_order_acquire);
  });
}

ItemEndRef ItemEnd::At(Instant when) {
  auto completion = std::make_shared<ItemEnd>();
  completion->Complete(when);
  return completion;
}

void ItemEnd::End(Instant when, FailureRef why) {
  when_ = when;
  failure_ = std::move(why);
  ended_.store(true, std::memory_order_release);
  ended_.notify_all();
}

FailureRef ItemEnd::failure() const {
  return failure_ && !failure_->forgiven() ? failure_ : nullptr;
}

bool IsPendingOrFailed(const ItemEndRef& completion) {
  return completion && (completion->pending() || completion->failure());
}

}  // namespace ringlet::stream
