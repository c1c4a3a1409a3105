// Counts the elements that NCCL holds for a host: those of a file, and those of the file fused from
// its ranks' views.
#pragma once
#include <cstddef>
#include <cstdint>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// NCCL's limit for a file, and for one fused from the ranks of a host.
/// Source  NCCL 2.30. For hosts of an NVLink domain the limit is multiplied by the number of ranks.
inline constexpr std::size_t kNcclElementsMax = 256;

std::size_t CountElements(const HostView& view);

struct FusedCount {
  /// Number of elements if all ranks see equal NICs. Each rank adds its own `gpu` with its links,
  /// because NCCL joins only elements with equal attributes, including `rank`.
  std::size_t elements = 0;
  /// Number of elements if no two ranks see equal NICs: each adds its whole file.
  std::size_t at_worst = 0;
};

/// Predicts the file that NCCL fuses from `ranks` on this host. Ranks take the GPUs in turn,
/// repeatedly if needed. For a skeleton, with unknown links, this is a lower bound: each GPU and
/// NIC counts by its class, without links.
/// Source  nccl pull request 2386: a GPU with 18 links, 12 ranks on it make 233, 14 ranks 271
/// \param ranks  0: one for each GPU
FusedCount PredictFused(const HostView& view, std::uint32_t ranks);

/// Returns the number of GPUs, or of functions of a GPU's class.
std::uint32_t CountGpus(const HostView& view);

}  // namespace ringlet::topology
