// The operators torch.ops.ringlet: blocking operations that bypass torch.distributed. Included by
// module.cpp only.
//
// A group is identified by its name, `group.group_name`. Output tensors are first, and no value is
// returned, so torch.compile and torch.export accept the operators unchanged. All ranks of the
// group call each of them, in the same order as its other operations. A call blocks until this
// rank's part is done.
#pragma once
#include <torch/library.h>

#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>

#include "pytorch/backend.hpp"

namespace c10d {
/// A class of PyTorch, derived from Backend alone. Its own header needs Gloo's.
class ProcessGroupWrapper {
 public:
  c10::intrusive_ptr<Backend> getWrappedPg() const;
};
}  // namespace c10d

namespace ringlet::torch_api {

/// Returns the backend inside PyTorch's wrapper of TORCH_DISTRIBUTED_DEBUG=DETAIL; else null.
inline c10::intrusive_ptr<RingletBackend> Unwrapped(const c10d::Backend& backend) {
  if (typeid(backend).name() != std::string_view("N4c10d19ProcessGroupWrapperE")) return {};
  const auto& wrapper = reinterpret_cast<const c10d::ProcessGroupWrapper&>(backend);
  return c10::dynamic_intrusive_pointer_cast<RingletBackend>(wrapper.getWrappedPg());
}

/// Throws if no group has the name, or if it has another backend.
inline c10::intrusive_ptr<RingletBackend> BackendOf(std::string_view group_name) {
  const auto group = c10d::resolve_process_group(std::string(group_name));
  const auto given = group->getBackend(c10::DeviceType::CPU);
  auto backend = c10::dynamic_intrusive_pointer_cast<RingletBackend>(given);
  if (!backend) backend = Unwrapped(*given);
  TORCH_CHECK_VALUE(
      backend, "ringlet: the process group ", std::string(group_name),
      " has another backend for CPUs; make it with init_process_group(\"ringlet\") or "
      "new_group(backend=\"ringlet\")");
  return backend;
}

/// Accepts torch.distributed's names in lower case.
inline c10d::ReduceOp ReduceOpOf(std::string_view name) {
  using Op = c10d::ReduceOp;
  constexpr std::array<std::pair<std::string_view, Op::RedOpType>, 8> kNames{
      {{"sum", Op::SUM},
       {"avg", Op::AVG},
       {"product", Op::PRODUCT},
       {"min", Op::MIN},
       {"max", Op::MAX},
       {"band", Op::BAND},
       {"bor", Op::BOR},
       {"bxor", Op::BXOR}}};
  for (const auto& [known, op] : kNames)
    if (known == name) return op;
  TORCH_CHECK_VALUE(false, "ringlet: the reduction ", std::string(name),
                    " is not one of sum, avg, product, min, max, band, bor and bxor");
}

inline void AllReduceOperator(const at::Tensor& tensor, std::string_view group_name,
                              std::string_view op) {
  BackendOf(group_name)->launcher().RunNow("all_reduce_", {tensor}, [&]() -> TurnBody {
    CheckTensor(tensor, "all_reduce_");
    CheckWritten(tensor, "all_reduce_");
    return [&tensor, reduction = TensorReduction(tensor, ReduceOpOf(op))](
               comm::Communicator& communicator, Milliseconds timeout) -> Status {
      const at::Tensor dense = Dense(tensor);
      RINGLET_TRY(AllReduce(communicator, dense, dense, reduction, timeout));
      Deliver(dense, tensor);
      return Ok();
    };
  });
}

inline void BroadcastOperator(const at::Tensor& tensor, std::int64_t root,
                              std::string_view group_name) {
  const auto backend = BackendOf(group_name);
  backend->launcher().RunNow("broadcast_", {tensor}, [&]() -> TurnBody {
    CheckTensor(tensor, "broadcast_");
    backend->place().CheckRoot(root, "broadcast_");
    const bool writes = backend->getRank() != root;
    if (writes) CheckWritten(tensor, "broadcast_");
    return
        [&tensor, root, writes](comm::Communicator& communicator, Milliseconds timeout) -> Status {
          const at::Tensor dense = Dense(tensor);
          RINGLET_TRY(Broadcast(communicator, dense, root, timeout));
          if (writes) Deliver(dense, tensor);
          return Ok();
        };
  });
}

inline void AllGatherOperator(const at::Tensor& output, const at::Tensor& input,
                              std::string_view group_name) {
  const auto backend = BackendOf(group_name);
  backend->launcher().RunNow("all_gather_into_tensor", {input, output}, [&]() -> TurnBody {
    CheckTensor(output, "all_gather_into_tensor");
    CheckWritten(output, "all_gather_into_tensor");
    CheckAlike({input}, output, "all_gather_into_tensor");
    backend->place().CheckTimes(output, input, "all_gather_into_tensor");
    return [&](comm::Communicator& communicator, Milliseconds timeout) {
      return GatherInto(communicator, input, output, timeout);
    };
  });
}

inline void ReduceScatterOperator(const at::Tensor& output, const at::Tensor& input,
                                  std::string_view group_name, std::string_view op) {
  const auto backend = BackendOf(group_name);
  backend->launcher().RunNow("reduce_scatter_tensor", {input, output}, [&]() -> TurnBody {
    CheckTensor(output, "reduce_scatter_tensor");
    CheckWritten(output, "reduce_scatter_tensor");
    CheckAlike({input}, output, "reduce_scatter_tensor");
    backend->place().CheckTimes(input, output, "reduce_scatter_tensor");
    return [&input, &output, reduction = TensorReduction(output, ReduceOpOf(op))](
               comm::Communicator& communicator, Milliseconds timeout) {
      return ReduceInto(communicator, input, output, reduction, timeout);
    };
  });
}

inline void AllToAllOperator(const at::Tensor& output, const at::Tensor& input,
                             std::string_view group_name, at::OptionalIntArrayRef output_splits,
                             at::OptionalIntArrayRef input_splits) {
  const auto backend = BackendOf(group_name);
  const auto lengths = [](at::OptionalIntArrayRef splits) {
    return splits ? splits->vec() : std::vector<std::int64_t>();
  };
  backend->launcher().RunNow("all_to_all_single", {input, output}, [&]() -> TurnBody {
    CheckTensor(output, "all_to_all_single");
    CheckWritten(output, "all_to_all_single");
    CheckAlike({input}, output, "all_to_all_single");
    const auto sent = lengths(input_splits), received = lengths(output_splits);
    const int size = backend->getSize();
    c10d::checkSplitSizes(sent, input, size);
    c10d::checkSplitSizes(received, output, size);
    const Splits sends(input, sent, size), receives(output, received, size);
    backend->place().CheckOwnBlock(sends, receives);
    return [&input, &output, sends, receives](comm::Communicator& communicator,
                                              Milliseconds timeout) -> Status {
      const at::Tensor room = Room(output);
      RINGLET_TRY(AllToAll(communicator, Dense(input), sends, room, receives, timeout));
      Deliver(room, output);
      return Ok();
    };
  });
}

inline void BarrierOperator(std::string_view group_name) {
  BackendOf(group_name)->launcher().RunNow("barrier", {}, []() -> TurnBody {
    return [](comm::Communicator& communicator, Milliseconds timeout) {
      return Barrier(communicator, timeout);
    };
  });
}

/// Replaces an operator for inputs with shapes but without elements.
template <typename... Arguments>
void NothingToCompute(Arguments...) {}

}  // namespace ringlet::torch_api
