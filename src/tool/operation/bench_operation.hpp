// The operations of `ringlet bench`, with names, sizes and bandwidths as in nccl-tests. Pure.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "collective/call/call.hpp"

namespace ringlet::cli {

using collective::CallKind;

struct BenchOperation {
  std::string_view name;     ///< "alltoall"
  std::string_view purpose;  ///< text for the help
  CallKind kind = CallKind::kAllReduce;
  /// True if a size counts the blocks of all ranks. Each rank then has 1/ranks of the elements.
  bool divided = false;
  bool in_place = true;  ///< an in-place form exists
};

/// Returns the operations in the order of the help. In kSendReceive, each rank sends to the next
/// rank and receives from the previous one at the same time.
std::span<const BenchOperation> BenchOperations();
/// Returns null for an unknown name.
const BenchOperation* BenchOperationNamed(std::string_view name);
const BenchOperation& BenchOperationOf(CallKind kind);

/// Returns the count of the call for a size in elements: at least 1, but 0 for a barrier.
std::size_t CallCount(const BenchOperation& operation, std::size_t elements, std::uint32_t ranks);
/// Returns the inverse of CallCount if the number of ranks divides the elements.
std::size_t SizeElements(const BenchOperation& operation, std::size_t count, std::uint32_t ranks);

}  // namespace ringlet::cli
