// How the data of a call among the ranks of one host are cut: into the shares of ranks, and into
// slices that fit the stages. Pure arithmetic on numbers that all ranks have.
#pragma once
#include <cstddef>
#include <cstdint>

#include "collective/call/call.hpp"

namespace ringlet::collective {

/// A piece of a block.
struct Piece {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

/// The share of rank `who` in `bytes` that `ranks` ranks divide among them, in whole cache lines as
/// far as there are enough. Shares follow each other in rank order.
Piece ShareOf(std::size_t bytes, std::uint32_t who, std::uint32_t ranks);

/// How a block of an operation is cut into slices that fit the stages.
struct Slicing {
  std::size_t block_bytes = 0;  ///< to be cut
  std::size_t slice_bytes = 0;  ///< of each slice but the last; a multiple of 64
  std::uint64_t slices = 0;
  Piece At(std::uint64_t slice) const;
};
/// \param stage_bytes  what a rank has for one slice, at least 64 for each rank
Slicing SlicingOf(const Call& call, std::uint32_t ranks, std::size_t stage_bytes);

}  // namespace ringlet::collective
