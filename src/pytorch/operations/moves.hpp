// Operations that move tensors between ranks. Each function checks its arguments and launches the
// operation. Included by module.cpp only.
#pragma once
#include "pytorch/launch/launcher.hpp"

namespace ringlet::torch_api {

inline WorkPointer LaunchBroadcast(Launcher& launcher, Tensors& tensors,
                                   const c10d::BroadcastOptions& opts) {
  const RankInGroup& place = launcher.place();
  const at::Tensor tensor = OnlyOne(tensors, "broadcast");
  place.CheckRoot(opts.rootRank, "broadcast");
  const bool writes = place.rank != opts.rootRank;
  if (writes) CheckWritten(tensor, "broadcast");
  return launcher.Launch(
      launcher.Describe(c10d::OpType::BROADCAST, "broadcast", opts, tensors, tensors),
      [=, root = opts.rootRank](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        const at::Tensor dense = Dense(tensor);
        RINGLET_TRY(Broadcast(communicator, dense, root, timeout));
        if (writes) Deliver(dense, tensor);
        return Ok();
      });
}

inline WorkPointer LaunchAllGather(Launcher& launcher, std::vector<Tensors>& outputs,
                                   Tensors& inputs, const c10d::AllgatherOptions& opts) {
  const RankInGroup& place = launcher.place();
  const at::Tensor input = OnlyOne(inputs, "all_gather");
  const Tensors targets = place.ListOfAll(outputs, input, "all_gather");
  CheckWritten(targets, "all_gather");
  return launcher.Launch(
      launcher.Describe(c10d::OpType::ALLGATHER, "all_gather", opts, inputs, targets),
      [=](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        return GatherToLists(communicator, input, targets, timeout);
      });
}

inline WorkPointer LaunchAllGatherTensor(Launcher& launcher, at::Tensor& output, at::Tensor& input,
                                         const c10d::AllgatherOptions& opts) {
  const RankInGroup& place = launcher.place();
  CheckTensor(output, "all_gather_into_tensor");
  CheckWritten(output, "all_gather_into_tensor");
  CheckAlike({input}, output, "all_gather_into_tensor");
  place.CheckTimes(output, input, "all_gather_into_tensor");
  return launcher.Launch(
      launcher.Describe(c10d::OpType::_ALLGATHER_BASE, "_all_gather_base", opts, input, output),
      [output, input](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        return GatherInto(communicator, input, output, timeout);
      });
}

inline WorkPointer LaunchAllGatherCoalesced(Launcher& launcher, std::vector<Tensors>& outputs,
                                            Tensors& inputs, const c10d::AllgatherOptions& opts) {
  const RankInGroup& place = launcher.place();
  TORCH_CHECK(outputs.size() == static_cast<std::size_t>(place.size),
              "ringlet: all_gather_coalesced needs a list of outputs for each of the ", place.size,
              " ranks");
  Tensors all;
  for (const Tensors& list : outputs) {
    TORCH_CHECK(list.size() == inputs.size(),
                "ringlet: all_gather_coalesced needs as many outputs for each rank as inputs");
    all.insert(all.end(), list.begin(), list.end());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (const Tensors& list : outputs) CheckAlike({list[i]}, inputs[i], "all_gather_coalesced");
  CheckAlike(inputs, inputs.front(), "all_gather_coalesced");
  CheckWritten(all, "all_gather_coalesced");
  return launcher.Launch(
      launcher.Describe(c10d::OpType::ALLGATHER_COALESCED, "all_gather", opts, inputs, all),
      [outputs, inputs](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          Tensors targets;
          for (const Tensors& list : outputs) targets.push_back(list[i]);
          RINGLET_TRY(GatherToLists(communicator, inputs[i], targets, timeout));
        }
        return Ok();
      });
}

inline WorkPointer LaunchAllGatherTensorCoalesced(Launcher& launcher, Tensors& outputs,
                                                  Tensors& inputs,
                                                  const c10d::AllgatherOptions& opts) {
  const RankInGroup& place = launcher.place();
  CheckPairs(outputs, inputs, "all_gather_into_tensor_coalesced");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    place.CheckTimes(outputs[i], inputs[i], "all_gather_into_tensor_coalesced");
  return launcher.Launch(
      launcher.Describe(c10d::OpType::COALESCED, "all_gather", opts, inputs, outputs),
      [outputs, inputs](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        for (std::size_t i = 0; i < inputs.size(); ++i)
          RINGLET_TRY(GatherInto(communicator, inputs[i], outputs[i], timeout));
        return Ok();
      });
}

inline WorkPointer LaunchGather(Launcher& launcher, std::vector<Tensors>& outputs, Tensors& inputs,
                                const c10d::GatherOptions& opts) {
  const RankInGroup& place = launcher.place();
  const at::Tensor input = OnlyOne(inputs, "gather");
  place.CheckRoot(opts.rootRank, "gather");
  const bool is_root = place.rank == opts.rootRank;
  TORCH_CHECK(is_root || outputs.empty() || outputs.front().empty(),
              "ringlet: only the root of gather has outputs");
  const Tensors targets = is_root ? place.ListOfAll(outputs, input, "gather") : Tensors();
  if (is_root) CheckSame(targets, input, "gather");
  CheckWritten(targets, "gather");
  return launcher.Launch(
      launcher.Describe(c10d::OpType::GATHER, "gather", opts, inputs, targets),
      [=, root = opts.rootRank](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        const at::Tensor room = targets.empty() ? at::Tensor() : JointRoom(targets);
        RINGLET_TRY(Gather(communicator, Dense(input), room, root, timeout));
        if (room.defined()) Share(room, targets);
        return Ok();
      });
}

inline WorkPointer LaunchGatherTensor(Launcher& launcher, at::Tensor& output, at::Tensor& input,
                                      const c10d::GatherOptions& opts) {
  const RankInGroup& place = launcher.place();
  CheckTensor(input, "gather_into_tensor");
  place.CheckRoot(opts.rootRank, "gather_into_tensor");
  const bool is_root = place.rank == opts.rootRank;
  if (is_root) {
    CheckWritten(output, "gather_into_tensor");
    CheckAlike({output}, input, "gather_into_tensor");
    place.CheckTimes(output, input, "gather_into_tensor");
  }
  const at::Tensor target = is_root ? output : at::Tensor();
  return launcher.Launch(launcher.Describe(c10d::OpType::GATHER, "gather", opts, input,
                                           is_root ? at::TensorList(target) : at::TensorList()),
                         [input, target, root = opts.rootRank](comm::Communicator& communicator,
                                                               Milliseconds timeout) -> Status {
                           const at::Tensor room = target.defined() ? Room(target) : target;
                           RINGLET_TRY(Gather(communicator, Dense(input), room, root, timeout));
                           if (room.defined()) Deliver(room, target);
                           return Ok();
                         });
}

inline WorkPointer LaunchScatter(Launcher& launcher, Tensors& outputs, std::vector<Tensors>& inputs,
                                 const c10d::ScatterOptions& opts) {
  const RankInGroup& place = launcher.place();
  const at::Tensor output = OnlyOne(outputs, "scatter");
  place.CheckRoot(opts.rootRank, "scatter");
  const bool is_root = place.rank == opts.rootRank;
  TORCH_CHECK(is_root || inputs.empty() || inputs.front().empty(),
              "ringlet: only the root of scatter has inputs");
  const Tensors sources = is_root ? place.ListOfAll(inputs, output, "scatter") : Tensors();
  if (is_root) CheckSame(sources, output, "scatter");
  CheckWritten(output, "scatter");
  return launcher.Launch(
      launcher.Describe(c10d::OpType::SCATTER, "scatter", opts, sources, outputs),
      [=, root = opts.rootRank](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        const at::Tensor room = Room(output);
        RINGLET_TRY(ScatterLists(communicator, sources, room, root, timeout));
        Deliver(room, output);
        return Ok();
      });
}

inline WorkPointer LaunchAllToAllTensor(Launcher& launcher, at::Tensor& output, at::Tensor& input,
                                        std::vector<std::int64_t>& output_splits,
                                        std::vector<std::int64_t>& input_splits,
                                        const c10d::AllToAllOptions& opts) {
  const RankInGroup& place = launcher.place();
  CheckTensor(output, "all_to_all_single");
  CheckWritten(output, "all_to_all_single");
  CheckAlike({input}, output, "all_to_all_single");
  c10d::checkSplitSizes(input_splits, input, place.size);
  c10d::checkSplitSizes(output_splits, output, place.size);
  const Splits sends(input, input_splits, place.size), receives(output, output_splits, place.size);
  place.CheckOwnBlock(sends, receives);
  return launcher.Launch(
      launcher.Describe(c10d::OpType::ALLTOALL_BASE, "all_to_all", opts, input, output),
      [input, output, sends, receives](comm::Communicator& communicator,
                                       Milliseconds timeout) -> Status {
        const at::Tensor room = Room(output);
        RINGLET_TRY(AllToAll(communicator, Dense(input), sends, room, receives, timeout));
        Deliver(room, output);
        return Ok();
      });
}

inline WorkPointer LaunchAllToAll(Launcher& launcher, Tensors& outputs, Tensors& inputs,
                                  const c10d::AllToAllOptions& opts) {
  const RankInGroup& place = launcher.place();
  TORCH_CHECK(
      outputs.size() == static_cast<std::size_t>(place.size) && inputs.size() == outputs.size(),
      "ringlet: all_to_all takes an input and an output for each of the ", place.size,
      " ranks, not ", inputs.size(), " and ", outputs.size());
  CheckAlike(inputs, inputs.front(), "all_to_all");
  CheckAlike(outputs, inputs.front(), "all_to_all");
  CheckWritten(outputs, "all_to_all");
  place.CheckOwnBlock(Splits(inputs), Splits(outputs));
  return launcher.Launch(
      launcher.Describe(c10d::OpType::ALLTOALL, "all_to_all", opts, inputs, outputs),
      [inputs, outputs](comm::Communicator& communicator, Milliseconds timeout) -> Status {
        const at::Tensor room = JointRoom(outputs);
        RINGLET_TRY(
            AllToAll(communicator, Joined(inputs), Splits(inputs), room, Splits(outputs), timeout));
        Share(room, outputs);
        return Ok();
      });
}

inline WorkPointer LaunchBarrier(Launcher& launcher, const c10d::BarrierOptions& opts) {
  return launcher.Launch(launcher.Describe(c10d::OpType::BARRIER, "barrier", opts, {}, {}),
                         [](comm::Communicator& communicator, Milliseconds timeout) -> Status {
                           return Barrier(communicator, timeout);
                         });
}

}  // namespace ringlet::torch_api
