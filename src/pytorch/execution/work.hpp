// An operation as PyTorch's callers see it. Included by module.cpp only.
#pragma once
#include <ATen/record_function.h>
#include <fmt/format.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "comm/service/clock.hpp"
#include "comm/service/fork_guard.hpp"
#include "pytorch/execution/helpers.hpp"
#include "pytorch/execution/interrupts.hpp"
#include "pytorch/execution/serial_executor.hpp"
#include "ringlet/status.hpp"

namespace ringlet::torch_api {

using Tensors = std::vector<at::Tensor>;
using WorkPointer = c10::intrusive_ptr<c10d::Work>;

/// An operation of a group: running, complete, or failed.
class GroupWork : public c10d::Work {
 public:
  struct What {
    int rank = -1;
    c10d::OpType type = c10d::OpType::UNKNOWN;
    std::string title;      ///< for the profiler, such as "ringlet:all_reduce"
    at::TensorList inputs;  ///< the profiler records their shapes
    Tensors outputs;        ///< the value of the Future
    std::uint64_t sequence = 0;
    std::chrono::milliseconds timeout{};  ///< for messages
    std::string detail;                   ///< of a receive: the sender
  };

  explicit GroupWork(What what)
      : Work(what.rank, what.type, at::hasCallbacks() ? what.title.c_str() : nullptr,
             at::hasCallbacks() ? std::optional(what.inputs.vec()) : std::nullopt),
        title_(std::move(what.title)),
        outputs_(std::move(what.outputs)),
        sequence_(what.sequence),
        timeout_(what.timeout),
        detail_(std::move(what.detail)) {}

  /// Ends the operation once. Completes the Future first, then wakes waiters, then ends the turn.
  /// Callbacks of the Future run last, on this thread. \param turn  of a submitted operation
  void Complete(std::exception_ptr exception, SerialExecutor::Turn* turn = nullptr) {
    if (const auto future = FinishWith(std::move(exception), turn)) Settle(*future);
  }
  /// As above, but runs callbacks on a helper.
  void Complete(std::exception_ptr exception, Helpers& helpers) {
    if (auto future = FinishWith(std::move(exception), nullptr))
      helpers.Run([this, future, own = c10::intrusive_ptr<GroupWork>::reclaim_copy(this)] {
        Settle(*future);
      });
  }

  bool wait(std::chrono::milliseconds timeout) override {
    const bool for_ever = timeout == kNoTimeout || timeout == c10d::kUnsetTimeout;
    // A signal ends the wait but not the operation.
    const Interrupts interrupts;
    if (own_ && for_ever && own_->maker.IsHere()) own_->job.RunHereUnlessBegun();
    if (for_ever) timeout = withdraw_ ? timeout_ : kForever;
    const bool ended = EndsWithin(timeout);
    interrupts.Rethrow();
    if (withdraw_) {
      if (!ended) Withdraw(timeout);
    } else {
      TORCH_CHECK_WITH(
          DistBackendError, ended,
          fmt::format("{}: Timed out waiting {}ms for its end; the operation continues", title_,
                      timeout.count()));
    }
    return Work::wait(kNoTimeout);
  }

  /// Sets the submitted job. A caller that waits before another thread has begun the job runs it
  /// itself, because a sleep and a wakeup take longer than a small operation. \param maker  of the
  /// group: a child of fork ignores its parent's operations
  void set_job(SerialExecutor::Submitted job, const comm::ForkGuard& maker) {
    own_.emplace(std::move(job), maker);
  }

  /// Sets a function that cancels a receive at its deadline, or returns false if it is too late.
  void set_withdrawal(std::function<bool()> withdraw) { withdraw_ = std::move(withdraw); }

  Tensors result() override { return outputs_; }
  std::uint64_t getSequencenumber() const override { return sequence_; }
  /// In PyTorch since 2.12.
  std::chrono::milliseconds getTimeout() const { return timeout_; }
  /// Unique for each work of the process. In PyTorch since 2.15.
  std::uint64_t getCompletionKey() const { return key_; }
  int sourceRank() const override { return source_; }
  void set_source(int source) { source_ = source; }

  /// Creates the Future on first request, because most callers only wait.
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    std::unique_lock lock(mutex_);
    if (future_) return future_;
    future_ =
        c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    const auto future = future_;
    // Added as the first callback, so that waiters do not wait for other callbacks.
    if (!ended_) future->addCallback([this](c10::ivalue::Future&) { Finish(); }, false);
    const bool ended = ended_;
    lock.unlock();
    if (ended) Settle(*future);
    return future;
  }

 private:
  // Practically unlimited: an operation has its own deadline.
  static constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

  static std::uint64_t NextKey() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  struct OwnJob {
    OwnJob(SerialExecutor::Submitted submitted, const comm::ForkGuard& guard)
        : job(std::move(submitted)), maker(guard) {}
    SerialExecutor::Submitted job;
    comm::ForkGuard maker;
  };

  /// Returns null if the Future was never requested and no callbacks remain.
  c10::intrusive_ptr<c10::ivalue::Future> FinishWith(std::exception_ptr exception,
                                                     SerialExecutor::Turn* turn) {
    c10::intrusive_ptr<c10::ivalue::Future> future;
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      error_ = std::move(exception);
      turn_ = turn;
      future = future_;
    }
    if (!future) finish(error_);
    return future;
  }

  void Finish() {
    finish(error_);
    if (turn_ != nullptr) turn_->End();
  }

  /// Returns false too if the caller stops waiting.
  bool EndsWithin(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (completed_) return true;
    const Instant end = comm::Now() + std::min(timeout, kForever);
    bool enough = false;
    while (!completed_ && !enough) {
      const Instant left = end - comm::Now();
      if (left <= Instant(0)) break;
      const auto look = std::min<Instant>(left, comm::LongWait::kPeriod);
      if (cv_.wait_for(lock, look, [&] { return completed_; })) break;
      lock.unlock();
      enough = comm::LongWait::Look();
      lock.lock();
    }
    return completed_;
  }

  void Withdraw(std::chrono::milliseconds timeout) {
    if (!withdraw_()) return;
    Complete(std::make_exception_ptr(c10::DistBackendError(
        {__func__, __FILE__, __LINE__}, fmt::format("{}: Timed out waiting {}ms for a message {}",
                                                    title_, timeout.count(), detail_))));
  }

  void Settle(c10::ivalue::Future& future) {
    if (error_) {
      future.setError(error_);
    } else {
      future.markCompleted(c10::IValue(outputs_));
    }
  }

  const std::string title_;
  const Tensors outputs_;
  const std::uint64_t sequence_;
  const std::uint64_t key_ = NextKey();
  const std::chrono::milliseconds timeout_;
  const std::string detail_;
  std::atomic<int> source_{-1};
  std::function<bool()> withdraw_;
  std::optional<OwnJob> own_;
  bool ended_ = false;
  SerialExecutor::Turn* turn_ = nullptr;  // lives until Complete returns
  std::exception_ptr error_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// Several operations as one: complete when all are.
class JointWork : public c10d::Work {
 public:
  JointWork(int rank, std::vector<c10::intrusive_ptr<Work>> parts)
      : Work(rank, c10d::OpType::COALESCED), parts_(std::move(parts)) {}

  bool isCompleted() override {
    return std::ranges::all_of(parts_, [](const auto& part) { return part->isCompleted(); });
  }
  bool isSuccess() const override {
    return std::ranges::all_of(parts_, [](const auto& part) { return part->isSuccess(); });
  }
  bool wait(std::chrono::milliseconds timeout) override {
    for (const auto& part : parts_) part->wait(timeout);
    return true;
  }
  Tensors result() override {
    Tensors all;
    for (const auto& part : parts_)
      for (at::Tensor& tensor : part->result()) all.push_back(std::move(tensor));
    return all;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    c10::List<c10::intrusive_ptr<c10::ivalue::Future>> futures(
        c10::FutureType::create(c10::ListType::create(c10::TensorType::get())));
    for (const auto& part : parts_) futures.push_back(part->getFuture());
    const auto all = c10::collectAll(futures);
    const Tensors results = result();
    return all->then(
        [results](c10::ivalue::Future& done) {
          if (done.hasError()) std::rethrow_exception(done.exception_ptr());
          for (const auto& part : done.value().toList()) part.get().toFuture()->waitAndThrow();
          return c10::IValue(results);
        },
        c10::ListType::create(c10::TensorType::get()));
  }

 private:
  const std::vector<c10::intrusive_ptr<Work>> parts_;
};

/// Returns the exception of a failed operation for its waiters: rank, group, operation, and cause.
/// Users of PyTorch search for the words "Timed out" and "Connection closed by peer".
inline std::exception_ptr ToException(const Error& error, const std::string& operation) {
  std::string_view kind;
  if (error.code == Code::kTimeout) kind = "Timed out waiting: ";
  if (error.code == Code::kPeerLost) kind = "Connection closed by peer: ";
  if (error.code == Code::kAborted) kind = "Connection closed by abort: ";
  return std::make_exception_ptr(
      c10::DistBackendError({error.file, error.file, static_cast<std::uint32_t>(error.line)},
                            fmt::format("{} failed: {}{}", operation, kind, error.message)));
}

}  // namespace ringlet::torch_api
