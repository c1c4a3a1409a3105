// An operation as PyTorch's callers hold it. Included by module.cpp only.
#pragma once
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <torch/extension.h>

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

/// An operation of a group: under way, complete, or failed.
class GroupWork : public c10d::Work {
 public:
  struct What {
    int rank = -1;
    c10d::OpType type = c10d::OpType::UNKNOWN;
    std::string title;      ///< for the profiler, such as "ringlet:all_reduce"
    at::TensorList inputs;  ///< their shapes go to the profiler
    Tensors outputs;        ///< the value of the Future
    std::uint64_t sequence = 0;
    std::chrono::milliseconds timeout{};  ///< of the operation, for messages
    std::string detail;                   ///< of a receive: from whom
  };

  explicit GroupWork(What what)
      : Work(what.rank, what.type, at::hasCallbacks() ? what.title.c_str() : nullptr,
             at::hasCallbacks() ? std::optional(what.inputs.vec()) : std::nullopt),
        title_(std::move(what.title)),
        outputs_(std::move(what.outputs)),
        sequence_(what.sequence),
        timeout_(what.timeout),
        detail_(std::move(what.detail)) {}

  /// Ends the operation, once: first for those who look at the Future, then for those who wait,
  /// then its turn; callbacks of the Future run after all that, on this thread. \param turn  of
  /// this operation, if it was submitted
  void Complete(std::exception_ptr exception, SerialExecutor::Turn* turn = nullptr) {
    if (const auto future = EndWith(std::move(exception), turn)) Settle(*future);
  }
  /// The same, but callbacks run on a helper.
  void Complete(std::exception_ptr exception, Helpers& helpers) {
    if (auto future = EndWith(std::move(exception), nullptr))
      helpers.Run([this, future, own = c10::intrusive_ptr<GroupWork>::reclaim_copy(this)] {
        Settle(*future);
      });
  }

  bool wait(std::chrono::milliseconds timeout) override {
    const bool for_ever = timeout == kNoTimeout || timeout == c10d::kUnsetTimeout;
    // One that a signal interrupts stops waiting; the operation goes on.
    const Interrupts interrupts;
    if (own_ && for_ever && own_->maker.IsHere()) own_->job.RunHereUnlessBegun();
    if (for_ever) timeout = withdraw_ ? timeout_ : kForever;
    const bool ended = EndsWithin(timeout);
    interrupts.Rethrow();
    if (withdraw_) {
      if (!ended) Withdraw(timeout);
    } else {
      TORCH_CHECK_WITH(DistBackendError, ended,
                       fmt::format("{}: Timed out waiting {}ms for its end; it goes on", title_,
                                   timeout.count()));
    }
    return Work::wait(kNoTimeout);
  }

  /// The job, which a caller that waits before another thread has begun with it runs itself: else
  /// it would sleep and be woken, which takes longer than what is small. \param maker  of the
  /// group: the child of a fork leaves its operations alone
  void set_job(SerialExecutor::Submitted job, const comm::ForkGuard& maker) {
    own_.emplace(std::move(job), maker);
  }

  /// A receive ends at its deadline if its message has not come: `withdraw` takes it back, or says
  /// that it is too late for that.
  void set_withdrawal(std::function<bool()> withdraw) { withdraw_ = std::move(withdraw); }

  Tensors result() override { return outputs_; }
  std::uint64_t getSequencenumber() const override { return sequence_; }
  /// PyTorch's since 2.12.
  std::chrono::milliseconds getTimeout() const { return timeout_; }
  /// PyTorch's since 2.15: another one for each work of the process.
  std::uint64_t getCompletionKey() const { return key_; }
  int sourceRank() const override { return source_; }
  void set_source(int source) { source_ = source; }

  /// Made only on request: most operations are waited for and no more.
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    std::unique_lock lock(mutex_);
    if (future_) return future_;
    future_ =
        c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    const auto future = future_;
    // The first of the callbacks: what others wait for does not wait for theirs.
    if (!ended_) future->addCallback([this](c10::ivalue::Future&) { Finish(); }, false);
    const bool ended = ended_;
    lock.unlock();
    if (ended) Settle(*future);
    return future;
  }

 private:
  // An operation has a deadline of its own.
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

  /// Null: the Future was not asked for, and there is nothing more to do.
  c10::intrusive_ptr<c10::ivalue::Future> EndWith(std::exception_ptr exception,
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

  /// Also false if the caller does not want to wait any longer.
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

/// Several operations, seen as one: complete when all are.
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

/// The exception of a failed operation for its waiters: rank, group, operation, and cause. The
/// words "Timed out" and "Connection closed by peer" are those that users of PyTorch look for.
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
