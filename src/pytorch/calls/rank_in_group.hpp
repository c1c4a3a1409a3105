// Argument checks that depend on the rank and the size of the group. Included by module.cpp only.
#pragma once
#include "pytorch/calls/calls.hpp"

namespace ringlet::torch_api {

/// A rank in a group of `size` ranks. The checks throw.
struct RankInGroup {
  int rank = 0;
  int size = 1;

  void CheckRoot(std::int64_t root, const char* operation) const {
    TORCH_CHECK(root >= 0 && root < size, "ringlet: ", operation, ": the root rank ", root,
                " is not between 0 and ", size - 1);
  }
  void CheckPeer(int peer, const char* operation) const {
    TORCH_CHECK(peer >= 0 && peer < size, "ringlet: ", operation, ": unknown rank ", peer,
                " in this group of ", size);
  }
  void CheckTimes(const at::Tensor& large, const at::Tensor& small, const char* operation) const {
    TORCH_CHECK(large.numel() == small.numel() * size, "ringlet: ", operation, ": ", large.numel(),
                " elements are not ", size, " times ", small.numel());
  }
  /// Checks the block from this rank to itself, because no other rank checks it.
  void CheckOwnBlock(const Splits& sends, const Splits& receives) const {
    const std::int64_t sent = sends.Elements(rank), received = receives.Elements(rank);
    TORCH_CHECK(sent == received, "ringlet: all_to_all: rank ", rank, " sends ", sent,
                " elements to itself and expects ", received,
                ": its input and output sizes for its own rank must be equal");
  }
  /// Returns the only list of `lists`, which has one tensor per rank.
  const Tensors& ListOfAll(const std::vector<Tensors>& lists, const at::Tensor& model,
                           const char* operation) const {
    TORCH_CHECK(lists.size() == 1 && lists.front().size() == static_cast<std::size_t>(size),
                "ringlet: ", operation, " takes one list with a tensor for each of the ", size,
                " ranks");
    CheckAlike(lists.front(), model, operation);
    return lists.front();
  }
};

inline void CheckSame(const Tensors& tensors, const at::Tensor& model, const char* operation) {
  for (const at::Tensor& tensor : tensors)
    TORCH_CHECK(tensor.numel() == model.numel(), "ringlet: ", operation,
                " takes tensors of one size, not of ", tensor.numel(), " and ", model.numel(),
                " elements");
}
inline void CheckPairs(const Tensors& outputs, const Tensors& inputs, const char* operation) {
  TORCH_CHECK(outputs.size() == inputs.size() && !inputs.empty(), "ringlet: ", operation,
              " takes as many outputs as inputs, not ", outputs.size(), " and ", inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CheckTensor(outputs[i], operation);
    CheckWritten(outputs[i], operation);
    CheckAlike({inputs[i]}, outputs[i], operation);
  }
}

}  // namespace ringlet::torch_api
