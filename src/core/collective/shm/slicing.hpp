// Slicing: divides the data of a call among the ranks of one host into shares of ranks and into
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

/// Returns the share of one rank if `ranks` ranks divide `bytes` bytes, in whole cache lines as far
/// as there are enough. Shares are in rank order.
Piece ShareOf(std::size_t bytes, std::uint32_t who, std::uint32_t ranks);

/// The division of an operation's block into slices that fit the stages.
struct Slicing {
  std::size_t block_bytes = 0;  ///< size of the block
  /// Size of each slice except the last; a multiple of 64. The only slice may be a little smaller.
  std::size_t slice_bytes = 0;
  std::uint64_t slices = 0;
  Piece At(std::uint64_t slice) const;
};
/// \param stage_bytes  memory of a rank for one slice, at least 64 per rank
Slicing SlicingOf(const Call& call, std::uint32_t ranks, std::size_t stage_bytes);

}  // namespace ringlet::collective
