// The path of an operation from its caller to its turn. Included by module.cpp only.
//
// An operation checks its tensors on the caller's thread, becomes a job of the group's serial
// executor, and returns a Work. A caller that waits, or that waits before another thread has begun
// the job, runs the job itself. Only asynchronous operations cost a thread switch.
#pragma once
#include <ATen/ThreadLocalState.h>

#include <optional>
#include <vector>

#include "pytorch/launch/turn.hpp"
#include "pytorch/launch/works.hpp"
#include "pytorch/life/group_lifecycle.hpp"

namespace ringlet::torch_api {

/// Runs the operations of a group in call order.
class Launcher {
 public:
  Launcher(GroupLifecycle& life, Works& works, Failures& failures)
      : life_(life), works_(works), failures_(failures) {}

  const RankInGroup& place() const { return life_.place(); }
  GroupLifecycle& life() { return life_; }

  /// Describes an operation with PyTorch's options. The group's timeout is the default.
  template <typename Opts>
  OperationInfo Describe(c10d::OpType type, const char* name, const Opts& opts,
                         at::TensorList inputs, at::TensorList outputs) const {
    bool async = true;
    if constexpr (requires { opts.asyncOp; }) async = opts.asyncOp;
    const auto timeout =
        opts.timeout == c10d::kUnsetTimeout ? life_.UsableGroup().timeout() : opts.timeout;
    return {type, name, inputs, outputs, timeout, async, ""};
  }

  /// Runs an operation on this thread if its caller waits for it, otherwise on another. \param
  /// counts  true if the other ranks make the same call \return null if it has run successfully on
  /// this thread, as from PyTorch's own backends
  template <typename Body>
  WorkPointer Launch(const OperationInfo& info, Body body, bool counts = true) {
    CheckOutsideTurn(life_.UsableGroup(), info.name);
    if (info.async || coalescing_) return LaunchBeside(info, std::move(body), counts);
    return LaunchHere(info, std::ref(body), counts);
  }

  /// Runs an operation without participation of peers, in order with this rank's other operations.
  /// \param body  keeps the `tensors` that it uses
  WorkPointer LaunchAlone(const char* name, at::TensorList tensors, Milliseconds timeout,
                          bool async, TurnBody body) {
    const OneSidedOptions options{timeout, async};
    return Launch(Describe(c10d::OpType::UNKNOWN, name, options, tensors, {}), std::move(body),
                  false);
  }

  /// Runs an operation on this thread in its turn, for a caller that waits and needs no Work.
  /// `check` first checks the arguments, as in TryOrRefuse, and returns the body.
  /// \param tensors  used by the operation
  template <typename Check>
  void RunNow(const char* operation, at::TensorList tensors, const Check& check) {
    RankGroup& group = life_.UsableGroup();
    CheckOutsideTurn(group, operation);
    const TurnBody body = TryOrRefuse(check);
    works_.Count();
    const TurnTask task{operation, ReachableAmong(tensors), group.timeout()};
    const std::uint64_t call = group.NextCall();
    Outcome outcome;
    const auto in_turn = [&] { outcome = RunInTurn(group, call, body, task); };
    const Interrupts interrupts = AbortIfInterrupted(group);
    group.serial_executor().RunHere(std::ref(in_turn));
    interrupts.Rethrow();
    if (!outcome.ok()) std::rethrow_exception(failures_.Here(place(), operation, outcome));
  }

  /// Calls `begin`, which throws if the arguments of its operation are invalid. In that case, ranks
  /// that have begun the call get the reason.
  template <typename Begin>
  auto TryOrRefuse(const Begin& begin) -> decltype(begin()) {
    try {
      return begin();
    } catch (const c10::Error& error) {
      life_.Refuse(error);
      throw;
    }
  }

  /// Returns the work of an operation that begins now without a turn.
  c10::intrusive_ptr<GroupWork> Begin(const OperationInfo& info) {
    return MakeWork(info, works_.Start(info.timeout));
  }
  /// Ends the work. Callbacks run on a helper of the group.
  void End(GroupWork& work, const char* operation, const Status& status) {
    works_.Complete(work, status.ok() ? nullptr : failures_.Of(place(), operation, status.error()),
                    life_.helpers());
  }

  void StartCoalescing() {
    TORCH_CHECK(!coalescing_, "ringlet: coalescing has begun already");
    coalescing_.emplace();
  }
  WorkPointer EndCoalescing() {
    TORCH_CHECK(coalescing_, "ringlet: coalescing cannot end because it has not begun");
    auto parts = std::move(*coalescing_);
    coalescing_.reset();
    return c10::make_intrusive<JointWork>(place().rank, std::move(parts));
  }
  /// Returns the same work, and adds it to the work of EndCoalescing if coalescing has begun.
  WorkPointer Coalesce(WorkPointer work) {
    if (coalescing_) coalescing_->push_back(work);
    return work;
  }

 private:
  static void CheckOutsideTurn(RankGroup& group, const char* operation) {
    TORCH_CHECK(!group.serial_executor().IsInside(), "ringlet: ", operation,
                " was called from inside an operation of its group, and would wait for that "
                "operation forever");
  }

  c10::intrusive_ptr<GroupWork> MakeWork(const OperationInfo& info,
                                         const Works::OperationStart& start) const {
    return Works::Make(place().rank, life_.name(), info, start);
  }

  WorkPointer LaunchHere(const OperationInfo& info, const TurnBody& body, bool counts) {
    RankGroup& group = life_.UsableGroup();
    const Works::OperationStart start = works_.Start(info.timeout);
    const TurnTask task{info.name, ReachableAmong(info.inputs, info.outputs), start.timeout};
    c10::intrusive_ptr<GroupWork> work;
    // Callers of a window hold the Work of one-sided operations.
    if (works_.AreSeen() || !counts) work = MakeWork(info, start);
    const std::uint64_t call = counts ? group.NextCall() : 0;
    Outcome outcome;
    const auto in_turn = [&] {
      outcome = RunInTurn(group, call, body, task);
      if (outcome.ok() && work) works_.Complete(*work, nullptr, kNoTurn);
    };
    const Interrupts interrupts = AbortIfInterrupted(group);
    group.serial_executor().RunHere(std::ref(in_turn));
    if (auto exception = interrupts.exception()) {
      if (work && !outcome.ok()) works_.Complete(*work, exception, kNoTurn);
      works_.EndWithoutWork(start);
      std::rethrow_exception(exception);
    }
    if (outcome.ok()) {
      works_.EndWithoutWork(start);
      return work;
    }
    if (!work) work = MakeWork(info, start);
    works_.Complete(*work, failures_.Here(place(), info.name, outcome), kNoTurn);
    return work;
  }

  WorkPointer LaunchBeside(const OperationInfo& info, TurnBody body, bool counts) {
    RankGroup& group = life_.UsableGroup();
    auto work = Begin(info);
    const TurnTask task{info.name, ReachableAmong(info.inputs, info.outputs), work->getTimeout(),
                        comm::Communicator::EnqueuedNow()};
    const std::uint64_t call = counts ? group.NextCall() : 0;
    work->set_job(
        group.serial_executor().Submit(
            [this, &group, call, work, body = std::move(body), task, line = Failures::LineToKeep(),
             state = at::ThreadLocalState()](SerialExecutor::Turn& turn) mutable {
              const at::ThreadLocalStateGuard as_caller(state);
              const Interrupts interrupts = AbortIfInterrupted(group);
              const Outcome outcome = RunInTurn(group, call, body, task);
              auto failure = interrupts.exception();
              if (!failure && !outcome.ok())
                failure = failures_.Beside(place(), line, task.operation, outcome);
              works_.Complete(*work, std::move(failure), &turn);
            }),
        group.fork_guard());
    return Coalesce(work);
  }

  static constexpr SerialExecutor::Turn* kNoTurn = nullptr;

  GroupLifecycle& life_;
  Works& works_;
  Failures& failures_;
  std::optional<std::vector<WorkPointer>> coalescing_;
};

}  // namespace ringlet::torch_api
