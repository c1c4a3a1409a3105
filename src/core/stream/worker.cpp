#include "stream/worker.hpp"

#include <algorithm>
#include <utility>

#include "os/clock.hpp"
#include "os/process/thread.hpp"
#include "stream/current_device.hpp"

namespace ringlet::stream {
namespace {

void PassOver(const HostTask& task, const Error& why) {
  if (!task.pass_over) return;
  // A lack of memory during the call is ignored. The task is passed over in any case.
  static_cast<void>(os::Caught([&]() -> Status {
    task.pass_over(why);
    return Ok();
  }));
}

FailureRef FailureOf(Error error, const HostTask& task, const StreamItem& item) {
  ItemFailure failure{.error = std::move(error)};
  for (const auto& order : task.orders)
    if (std::find(item.sources.begin(), item.sources.end(), order) != item.sources.end())
      failure.sources.push_back(order->failure_tolerance());
  return std::make_shared<const ItemFailure>(std::move(failure));
}

}  // namespace

Status StreamWorker::Start() {
  if (started_) return Ok();
  RINGLET_TRY_ASSIGN(
      thread_, os::StartThread("to run a stream", [this](const std::stop_token&) { Serve(); }));
  started_ = true;
  return Ok();
}

void StreamWorker::Push(StreamItem item) {
  item.enqueued = os::Ticks();
  {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
  }
  has_work_.notify_one();
}

bool StreamWorker::HasRoom() const {
  const std::lock_guard lock(mutex_);
  return closed_ || items_.size() < kItemsMax;
}

void StreamWorker::AwaitRoom() const {
  std::unique_lock lock(mutex_);
  has_room_.wait(lock, [this] { return closed_ || items_.size() < kItemsMax; });
}

void StreamWorker::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  has_work_.notify_all();
  has_room_.notify_all();
}

FailureRef StreamWorker::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_ && !failure_->forgiven() ? failure_ : nullptr;
}

void StreamWorker::ClearFailure() {
  const std::lock_guard lock(mutex_);
  failure_.reset();
}

std::string StreamWorker::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

void StreamWorker::Serve() {
  os::BecomeServiceThread("ringlet stream");
  SetCurrentDevice(device_);
  StreamItem item;
  while (Take(item)) RunItem(item);
  ended_.store(true, std::memory_order_release);
}

bool StreamWorker::Take(StreamItem& item) {
  std::unique_lock lock(mutex_);
  has_work_.wait(lock, [this] { return closed_ || !items_.empty(); });
  if (items_.empty()) return false;
  item = std::move(items_.front());
  items_.pop_front();
  if (items_.size() + 1 == kItemsMax) has_room_.notify_all();
  return true;
}

FailureRef StreamWorker::WaitForPredecessors(const StreamItem& item) const {
  for (const ItemEndRef& one : item.after_any_end) one->Wait();
  FailureRef failure;
  for (const ItemEndRef& one : item.after) {
    one->Wait();
    if (!failure) failure = one->failure();
  }
  return failure ? failure : this->failure();
}

void StreamWorker::KeepFailure(const FailureRef& failure) {
  const std::lock_guard lock(mutex_);
  last_error_ = failure->error.message;
  if (keeps_failure_) failure_ = failure;
}

void StreamWorker::RunItem(StreamItem& item) {
  FailureRef failure = WaitForPredecessors(item);
  for (const TaskRef& task : item.tasks) {
    if (failure) {
      PassOver(*task, failure->error);
    } else if (Status status = RunTask(*task, item.enqueued); !status.ok()) {
      failure = FailureOf(std::move(status).error(), *task, item);
    }
  }
  if (failure) KeepFailure(failure);
  // Released before the item is done, because a waiting thread may then destroy what they use.
  const ItemEndRef done = std::move(item.done);
  item.tasks.clear();
  item.after.clear();
  item.after_any_end.clear();
  item.sources.clear();
  item.keeps.reset();
  if (failure) {
    done->Fail(os::Now(), std::move(failure));
  } else {
    done->Complete(os::Now());
  }
}

}  // namespace ringlet::stream
