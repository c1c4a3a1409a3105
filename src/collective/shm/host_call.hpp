// One call of a collective among the ranks of one host, and how its data are cut: which bytes a
// rank lays out for whom, and where they go. Pure arithmetic on numbers that all ranks have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/value/bytes.hpp"
#include "collective/call/fingerprint.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::collective {

/// A barrier and the wireup before the messages of all_to_all_v have a count of 0.
struct HostCall {
  CallKind operation = CallKind::kAllReduce;
  DataType type = DataType::kUint8;
  ReduceOp op = ReduceOp::kSum;
  /// Elements: of the result (all-reduce, reduce, broadcast, reduce-scatter), or of what one rank
  /// gives another (all-gather, gather, scatter, all-to-all).
  std::uint64_t count = 0;
  Rank root{};
  /// Not read, and not written, by ranks that have none in this operation. The output is the input
  /// (of this rank: its own place in the larger of the two), or they do not overlap. All-to-all
  /// cannot be in place.
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
};

/// "all_reduce of 8 float sum", "broadcast of 8 float at root 2".
std::string ToText(const HostCall& call);

/// What a rank reads or gives, bytes.
struct HostSizes {
  std::size_t input = 0;
  std::size_t output = 0;
};
HostSizes SizesOf(const HostCall& call, std::uint32_t self, std::uint32_t ranks);

/// Bytes of one block: `count` elements.
inline std::size_t BlockBytes(const HostCall& call) {
  return static_cast<std::size_t>(call.count) * SizeOf(call.type);
}

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
Slicing SlicingOf(const HostCall& call, std::uint32_t ranks, std::size_t stage_bytes);

/// True when each rank lays out a piece of its own for every other one, rather than one for all.
inline bool PieceEach(CallKind operation) {
  return operation == CallKind::kReduceScatter || operation == CallKind::kAllToAll ||
         operation == CallKind::kScatter;
}

/// Whether `from` gives data to `to` in this operation. (Reductions: before they are reduced.)
inline bool Gives(const HostCall& call, std::uint32_t from, std::uint32_t to) {
  switch (call.operation) {
    case CallKind::kBroadcast:
    case CallKind::kScatter: return from == Index(call.root);
    case CallKind::kReduce:
    case CallKind::kGather: return to == Index(call.root);
    case CallKind::kBarrier:
    case CallKind::kAllToAllV: return false;
    default: return true;
  }
}
/// Where in the input of `from` lies the block for `to`, and in the output of `to` that of `from`.
inline std::size_t InputOffset(const HostCall& call, std::uint32_t, std::uint32_t to) {
  return PieceEach(call.operation) ? to * BlockBytes(call) : 0;
}
inline std::size_t OutputOffset(const HostCall& call, std::uint32_t from, std::uint32_t) {
  switch (call.operation) {
    case CallKind::kAllGather:
    case CallKind::kGather:
    case CallKind::kAllToAll: return from * BlockBytes(call);
    default: return 0;
  }
}

}  // namespace ringlet::collective
