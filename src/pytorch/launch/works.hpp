// The works of a group, and the parts of PyTorch that observe them. Included by module.cpp only.
#pragma once
#include <ATen/record_function.h>

#include <atomic>
#include <string>

#include "pytorch/execution/hooks.hpp"
#include "pytorch/execution/timeout_extensions.hpp"
#include "pytorch/execution/work.hpp"
#include "pytorch/launch/operation_info.hpp"

namespace ringlet::torch_api {

/// Counts the operations of a group, and creates and ends their works. Thread-safe.
class Works {
 public:
  /// The number of an operation and its timeout, including extensions.
  struct OperationStart {
    std::uint64_t sequence;
    Milliseconds timeout;
  };

  /// Each start needs an end: `Complete` of its work, or `EndWithoutWork`.
  OperationStart Start(Milliseconds timeout) {
    const std::uint64_t sequence = sequence_++;
    return {sequence, timeout + timeout_extensions_.Begin(sequence)};
  }
  void EndWithoutWork(const OperationStart& start) { timeout_extensions_.End(start.sequence); }
  /// Counts an operation that takes no extension.
  void Count() { ++sequence_; }
  std::uint64_t count() const { return sequence_; }
  /// Resets the count when the group is formed anew.
  void CountAnew() { sequence_ = 0; }

  /// True if PyTorch observes each Work, even if its caller does not: profilers, the flight
  /// recorder, and the registry of torch.compile.
  bool AreSeen() const {
    return at::hasCallbacks() || !completion_hooks_.empty() ||
           c10d::allow_inflight_collective_as_graph_input();
  }

  static c10::intrusive_ptr<GroupWork> Make(int rank, const std::string& group_name,
                                            const OperationInfo& info,
                                            const OperationStart& start) {
    return c10::make_intrusive<GroupWork>(
        GroupWork::What{.rank = rank,
                        .type = info.type,
                        .title = fmt::format("{}:{}", group_name, info.name),
                        .inputs = info.inputs,
                        .outputs = info.outputs.vec(),
                        .sequence = start.sequence,
                        .timeout = start.timeout,
                        .detail = info.detail});
  }
  /// Ends the work of an operation. \param failure  null: it has succeeded
  /// \param by  as for GroupWork::Complete
  template <typename By>
  void Complete(GroupWork& work, std::exception_ptr failure, By&& by) {
    if (!failure) completion_hooks_.Run(work.getCompletionKey());
    timeout_extensions_.End(work.getSequencenumber());
    work.Complete(std::move(failure), by);
  }

  /// Receive the key of the work.
  Hooks<std::uint64_t>& completion_hooks() { return completion_hooks_; }
  TimeoutExtensions& timeout_extensions() { return timeout_extensions_; }

 private:
  std::atomic<std::uint64_t> sequence_{0};
  Hooks<std::uint64_t> completion_hooks_;
  TimeoutExtensions timeout_extensions_;
};

}  // namespace ringlet::torch_api
