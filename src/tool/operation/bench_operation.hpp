// The operations of `ringlet bench`: names, sizes and bandwidths are those of nccl-tests. Pure.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "collective/call/call.hpp"

namespace ringlet::cli {

using collective::CallKind;

struct BenchOperation {
  std::string_view name;     ///< "alltoall"
  std::string_view purpose;  ///< for the help
  CallKind kind = CallKind::kAllReduce;
  /// A size is what all ranks together give one, or one gives all: of n elements each rank has n
  /// divided by the ranks.
  bool divided = false;
  bool in_place = true;  ///< exists in place
};

/// In the order of the help. The send and receive of kSendReceive go round: each rank sends to the
/// next one and receives from the one before, together.
std::span<const BenchOperation> BenchOperations();
/// Null for anything else.
const BenchOperation* BenchOperationNamed(std::string_view name);
const BenchOperation& BenchOperationOf(CallKind kind);

/// The count of the call for a size of so many elements; at least 1, but 0 for a barrier.
std::size_t CallCount(const BenchOperation& operation, std::size_t elements, std::uint32_t ranks);
/// The inverse, where the ranks divide it.
std::size_t SizeElements(const BenchOperation& operation, std::size_t count, std::uint32_t ranks);

}  // namespace ringlet::cli
