// The turn of an operation in its group. Included by module.cpp only.
#pragma once
#include <ATen/core/grad_mode.h>

#include <functional>
#include <vector>

#include "pytorch/group/group.hpp"
#include "pytorch/launch/operation_info.hpp"
#include "pytorch/life/failures.hpp"

namespace ringlet::torch_api {

/// The part of an operation that needs the communicator.
using TurnBody = std::function<Status(comm::Communicator&, Milliseconds timeout)>;

struct TurnTask {
  const char* operation;
  std::vector<View> reachable;  ///< memory of its tensors that peers may reach
  Milliseconds timeout;
  std::uint64_t enqueued = 0;  ///< for comm::Communicator::SetEnqueued
};

/// Returns the memory of tensors that other ranks may reach; usually empty.
inline std::vector<View> ReachableAmong(at::TensorList tensors, at::TensorList further = {}) {
  std::vector<View> reachable;
  for (const at::TensorList list : {tensors, further})
    for (const at::Tensor& tensor : list) {
      if (tensor.layout() != at::kStrided || !tensor.is_contiguous()) continue;
      if (TensorMemory::The().Has(BytesOf(tensor))) reachable.push_back(BytesOf(tensor));
    }
  return reachable;
}

/// Runs an operation. Call it only inside a turn. \param call  as for RankGroup::Main
inline Outcome RunInTurn(RankGroup& group, std::uint64_t call, const TurnBody& body,
                         const TurnTask& task) {
  const at::NoGradGuard no_gradients;  // copies back into parameters are not recorded
  auto main = group.Main(call);
  if (!main.ok()) return {.error = main.error()};
  for (const View memory : task.reachable) group.Announce(memory);
  (*main)->SetEnqueued(task.enqueued);
  try {
    const Status status = body(**main, task.timeout);
    if (status.ok()) return {};
    if (status.error().code != Code::kProtocol) return {.error = status.error()};
    return {.error = status.error(),
            .lines = group.call_lines(),
            .line = {.communicator = (*main)->identity().magic, .call = call, .line = {}}};
  } catch (const std::exception& exception) {
    // The other ranks cannot detect that this rank will not continue.
    (*main)->Abort(fmt::format("{} failed: {}", task.operation, exception.what()));
    return {.thrown = std::current_exception()};
  }
}

}  // namespace ringlet::torch_api
