// What a rank may ask of its communicator, as values: run at once, or collected into a group.
#pragma once
#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "base/value/bytes.hpp"
#include "collective/call/fingerprint.hpp"
#include "ringlet/types.hpp"

namespace ringlet::comm {

using collective::CallKind;

/// A collective. All ranks of the communicator call the same, with the same count, type, reduction
/// and root, in the same order. `count` is NCCL's, n the number of ranks:
///
///   kind            input            output           in place when
///   all_reduce      count            count            output == input
///   reduce          count            count (root)     output == input
///   broadcast       count (root)     count            output == input
///   all_gather      count            n * count        input == output + rank * count
///   reduce_scatter  n * count        count            output == input + rank * count
///   all_to_all      n * count        n * count        output == input (costs a copy)
///   gather          count            n * count (root) input == output + rank * count
///   scatter         n * count (root) count            output == input + rank * count
///
/// What only the root has may be anything on the others. Memory that overlaps in any other way is
/// refused. A count of 0 moves nothing and waits for nobody, but counts: ranks that differ in it
/// find out. Buffers belong to the caller and must stay as they are until the call has returned.
struct Call {
  CallKind kind = CallKind::kAllReduce;
  View input = {};
  std::span<std::byte> output = {};
  std::size_t count = 0;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;  ///< see Reduces() for what exists
  Rank root{};
  /// Of kPreMulSum: one element of `type`, by which this rank's input is multiplied first, rounded
  /// as a product is. Each rank has its own.
  Bytes scalar = {};
  /// Where that element lies when the operation runs, which is when it is read; then `scalar` is
  /// not looked at.
  const std::byte* scalar_at = nullptr;
};

/// Elements for, or from, each rank: `counts[r]` of them from `displacements[r]` on.
struct Portions {
  std::vector<std::size_t> counts;
  std::vector<std::size_t> displacements;
};

/// All-to-all with other counts for each pair. What a rank sends to another must be what that one
/// expects. Input and output do not overlap; they are as long as the portions reach.
struct AllToAllVCall {
  View input = {};
  std::span<std::byte> output = {};
  Portions sent = {};
  Portions received = {};
  DataType type = DataType::kFloat32;
};

/// A message to or from one rank, which may be this one. Both sides name the same count and type.
/// Between two ranks, messages and the collectives of both are called in the same order.
struct Transfer {
  Rank peer{};
  bool sends = false;
  View from = {};                ///< what is sent
  std::span<std::byte> to = {};  ///< where what is received goes
  std::size_t count = 0;
  DataType type = DataType::kFloat32;
};

using Work = std::variant<Call, AllToAllVCall, Transfer>;

}  // namespace ringlet::comm
