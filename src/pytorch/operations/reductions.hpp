// Operations that reduce tensors of all ranks. Each function checks its arguments and launches the
// operation. Included by module.cpp only.
#pragma once
#include "pytorch/launch/launcher.hpp"

namespace ringlet::torch_api {

inline WorkPointer LaunchAllReduce(Launcher& launcher, const at::Tensor& tensor,
                                   const c10d::AllreduceOptions& opts) {
  const TensorReduction reduction(tensor, opts.reduceOp);
  CheckWritten(tensor, "all_reduce");
  return launcher.Launch(
      launcher.Describe(c10d::OpType::ALLREDUCE, "all_reduce", opts, tensor, tensor),
      [=](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        const at::Tensor dense = Dense(tensor);
        RINGLET_TRY(AllReduce(communicator, dense, dense, reduction, timeout));
        Deliver(dense, tensor);
        return Ok();
      });
}

inline WorkPointer LaunchAllReduceCoalesced(Launcher& launcher, Tensors& tensors,
                                            const c10d::AllreduceCoalescedOptions& opts) {
  TORCH_CHECK(!tensors.empty(), "ringlet: all_reduce_coalesced takes at least one tensor");
  CheckAlike(tensors, tensors.front(), "all_reduce_coalesced");
  CheckWritten(tensors, "all_reduce_coalesced");
  const TensorReduction reduction(tensors.front(), opts.reduceOp);
  return launcher.Launch(
      launcher.Describe(c10d::OpType::ALLREDUCE_COALESCED, "all_reduce", opts, tensors, tensors),
      [=](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        const at::Tensor joint = Joined(tensors);
        RINGLET_TRY(AllReduce(communicator, joint, joint, reduction, timeout));
        Share(joint, tensors);
        return Ok();
      });
}

inline WorkPointer LaunchSparseAllReduce(Launcher& launcher, Tensors& tensors,
                                         const c10d::AllreduceOptions& opts) {
  const RankInGroup& place = launcher.place();
  TORCH_CHECK(tensors.size() == 1 && tensors.front().layout() == at::kSparse,
              "ringlet: all_reduce of sparse tensors takes only one tensor");
  TORCH_CHECK(opts.reduceOp == c10d::ReduceOp::SUM,
              "ringlet: sparse tensors are reduced by SUM only");
  return launcher.Launch(
      launcher.Describe(c10d::OpType::_ALLREDUCE_SPARSE, "sparse_all_reduce", opts, tensors,
                        tensors),
      [tensor = tensors.front(), size = place.size](comm::Communicator& communicator,
                                                    Milliseconds timeout) mutable -> Status {
        return SumSparse(communicator, tensor, size, timeout);
      });
}

inline WorkPointer LaunchReduce(Launcher& launcher, Tensors& tensors,
                                const c10d::ReduceOptions& opts) {
  const RankInGroup& place = launcher.place();
  const at::Tensor tensor = OnlyOne(tensors, "reduce");
  place.CheckRoot(opts.rootRank, "reduce");
  if (place.rank == opts.rootRank) CheckWritten(tensor, "reduce");
  const TensorReduction reduction(tensor, opts.reduceOp);
  return launcher.Launch(launcher.Describe(c10d::OpType::REDUCE, "reduce", opts, tensors, tensors),
                         [=, rank = place.rank, root = opts.rootRank](
                             comm::Communicator& communicator, Milliseconds timeout) -> Status {
                           const at::Tensor dense = Dense(tensor);
                           RINGLET_TRY(Reduce(communicator, dense, reduction, root, timeout));
                           if (rank == root) Deliver(dense, tensor);
                           return Ok();
                         });
}

inline WorkPointer LaunchReduceScatter(Launcher& launcher, Tensors& outputs,
                                       std::vector<Tensors>& inputs,
                                       const c10d::ReduceScatterOptions& opts) {
  const RankInGroup& place = launcher.place();
  const at::Tensor output = OnlyOne(outputs, "reduce_scatter");
  const Tensors sources = place.ListOfAll(inputs, output, "reduce_scatter");
  const TensorReduction reduction(output, opts.reduceOp);
  CheckWritten(output, "reduce_scatter");
  return launcher.Launch(
      launcher.Describe(c10d::OpType::REDUCE_SCATTER, "reduce_scatter", opts, sources, outputs),
      [=, rank = place.rank](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        return ReduceLists(communicator, sources, output, rank, reduction, timeout);
      });
}

inline WorkPointer LaunchReduceScatterTensor(Launcher& launcher, at::Tensor& output,
                                             at::Tensor& input,
                                             const c10d::ReduceScatterOptions& opts) {
  const RankInGroup& place = launcher.place();
  CheckTensor(output, "reduce_scatter_tensor");
  CheckWritten(output, "reduce_scatter_tensor");
  CheckAlike({input}, output, "reduce_scatter_tensor");
  place.CheckTimes(input, output, "reduce_scatter_tensor");
  const TensorReduction reduction(output, opts.reduceOp);
  return launcher.Launch(launcher.Describe(c10d::OpType::_REDUCE_SCATTER_BASE,
                                           "_reduce_scatter_base", opts, input, output),
                         [=](comm::Communicator& communicator, Milliseconds timeout) -> Status {
                           return ReduceInto(communicator, input, output, reduction, timeout);
                         });
}

inline WorkPointer LaunchReduceScatterCoalesced(Launcher& launcher, Tensors& outputs,
                                                Tensors& inputs,
                                                const c10d::ReduceScatterOptions& opts) {
  const RankInGroup& place = launcher.place();
  CheckPairs(outputs, inputs, "reduce_scatter_tensor_coalesced");
  std::vector<TensorReduction> reductions;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    place.CheckTimes(inputs[i], outputs[i], "reduce_scatter_tensor_coalesced");
    reductions.emplace_back(outputs[i], opts.reduceOp);
  }
  return launcher.Launch(
      launcher.Describe(ReduceScatterCoalesced(), "reduce_scatter", opts, inputs, outputs),
      [=](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        for (std::size_t i = 0; i < inputs.size(); ++i)
          RINGLET_TRY(ReduceInto(communicator, inputs[i], outputs[i], reductions[i], timeout));
        return Ok();
      });
}

}  // namespace ringlet::torch_api
