// What is called, seen from one rank: how many elements go in and come out, and where they may
// overlap.
#pragma once
#include <cstddef>
#include <span>

#include "base/value/bytes.hpp"
#include "collective/call/fingerprint.hpp"
#include "collective/exec/dataflow.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {

/// One call as one rank makes it. `count` is Fingerprint::count.
struct CallShape {
  CallKind kind = CallKind::kAllReduce;
  std::size_t count = 0;
  Rank root{};
  Rank self{};
  std::uint32_t ranks = 1;

  bool IsRoot() const { return self == root; }
};

/// Elements of this rank's buffers; 0 where a rank that is not the root has none.
inline std::size_t InputCount(const CallShape& shape) {
  switch (shape.kind) {
    case CallKind::kReduceScatter:
    case CallKind::kAllToAll: return shape.count * shape.ranks;
    case CallKind::kBroadcast: return shape.IsRoot() ? shape.count : 0;
    case CallKind::kScatter: return shape.IsRoot() ? shape.count * shape.ranks : 0;
    default: return shape.count;
  }
}
inline std::size_t OutputCount(const CallShape& shape) {
  switch (shape.kind) {
    case CallKind::kAllGather:
    case CallKind::kAllToAll: return shape.count * shape.ranks;
    case CallKind::kReduce: return shape.IsRoot() ? shape.count : 0;
    case CallKind::kGather: return shape.IsRoot() ? shape.count * shape.ranks : 0;
    default: return shape.count;
  }
}

/// Where the output of a call in place begins, in elements from its input: NCCL's rule.
std::ptrdiff_t InPlaceOffset(const CallShape& shape);

/// How two buffers of the call lie.
/// Errors  kInvalidArgument  they overlap in another way than NCCL calls in place
Result<Overlap> OverlapOf(const CallShape& shape, std::size_t element_bytes, View input,
                          View output);

}  // namespace ringlet::collective
