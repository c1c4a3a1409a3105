#include "tool/operation/bench_operation.hpp"

#include <algorithm>
#include <array>

#include "tool/operation/operation_alias.hpp"

namespace ringlet::cli {
namespace {

constexpr std::array<BenchOperation, 10> kOperations = {{
    {"all_reduce", "The sum, maximum, ... over all ranks, on all ranks", CallKind::kAllReduce},
    {"all_gather", "The blocks of all ranks, on all ranks", CallKind::kAllGather, true},
    {"reduce_scatter", "The sum, maximum, ... over all ranks, one block on each rank",
     CallKind::kReduceScatter, true},
    {"broadcast", "The block of one rank, on all ranks", CallKind::kBroadcast},
    {"reduce", "The sum, maximum, ... over all ranks, on one rank", CallKind::kReduce},
    {"all_to_all", "A block from each rank to each rank", CallKind::kAllToAll, true},
    {"gather", "The blocks of all ranks, on one rank", CallKind::kGather, true},
    {"scatter", "A block from one rank to each rank", CallKind::kScatter, true},
    {"send_receive", "Each rank sends to the next and receives from the previous one",
     CallKind::kSendReceive, false, false},
    {"barrier", "A barrier: each rank waits until all ranks have arrived", CallKind::kBarrier,
     false, false},
}};

}  // namespace

std::span<const BenchOperation> BenchOperations() {
  return kOperations;
}

const BenchOperation* BenchOperationNamed(std::string_view name) {
  const auto found = std::ranges::find(kOperations, OperationNamed(name), &BenchOperation::name);
  return found == kOperations.end() ? nullptr : &*found;
}

const BenchOperation& BenchOperationOf(CallKind kind) {
  const auto found = std::ranges::find(kOperations, kind, &BenchOperation::kind);
  RINGLET_ASSERT(found != kOperations.end());
  return *found;
}

std::size_t CallCount(const BenchOperation& operation, std::size_t elements, std::uint32_t ranks) {
  if (operation.kind == CallKind::kBarrier) return 0;
  return std::max<std::size_t>(operation.divided ? elements / ranks : elements, 1);
}

std::size_t SizeElements(const BenchOperation& operation, std::size_t count, std::uint32_t ranks) {
  return operation.divided ? count * ranks : count;
}

}  // namespace ringlet::cli
