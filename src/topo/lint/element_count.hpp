// How many elements NCCL has to hold of a host: those of a file, and those of the file that it
// fuses of what its ranks see.
#pragma once
#include <cstddef>
#include <cstdint>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// The room that NCCL has in a file that it reads, and in one that it fuses of one host's ranks.
/// Source  NCCL 2.30; of the hosts of an NVLink domain it has room for as many times the ranks.
inline constexpr std::size_t kNcclElementsMax = 256;

/// Elements that a file of this view has.
std::size_t CountElements(const HostView& view);

struct FusedCount {
  /// All ranks see the same NICs alike: each adds its own `gpu` with the links below it, because
  /// NCCL joins elements only if all attributes are equal, and `rank` is one of them.
  std::size_t elements = 0;
  /// No two ranks see the NICs alike: each adds all of its file.
  std::size_t at_worst = 0;
};

/// Predicts the file that NCCL fuses of `ranks` on this host: on its GPUs in turn, as often as it
/// takes. Of a skeleton, whose links are not known, it is the least: each GPU and NIC by its class
/// is counted as NCCL fills it in, without links.
/// Source  nccl pull request 2386: a GPU with 18 links, 12 ranks on it make 233, 14 ranks 271
/// \param ranks  0: one for each GPU
FusedCount PredictFused(const HostView& view, std::uint32_t ranks);

/// GPUs of a view, or functions that are some by their class.
std::uint32_t CountGpus(const HostView& view);

}  // namespace ringlet::topology
