#include "collective/algorithm/algorithm.hpp"

#include <utility>
#include <variant>

#include "base/value/text.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

constexpr AlgorithmCase kOneShotCases[] = {
    {CallKind::kAllReduce, Everywhere},     {CallKind::kReduce, Everywhere},
    {CallKind::kBroadcast, Everywhere},     {CallKind::kAllGather, Everywhere},
    {CallKind::kReduceScatter, Everywhere}, {CallKind::kAllToAll, Everywhere},
    {CallKind::kGather, Everywhere},        {CallKind::kScatter, Everywhere},
    {CallKind::kBarrier, Everywhere},
};

constexpr AlgorithmCase kSliceCases[] = {
    {CallKind::kAllReduce, Everywhere},     {CallKind::kReduce, Everywhere},
    {CallKind::kBroadcast, Everywhere},     {CallKind::kAllGather, Everywhere},
    {CallKind::kReduceScatter, Everywhere}, {CallKind::kAllToAll, Everywhere},
    {CallKind::kGather, Everywhere},        {CallKind::kScatter, Everywhere},
};

constexpr AlgorithmCase kFetchCases[] = {
    {CallKind::kBroadcast, Everywhere},
    {CallKind::kAllGather, Everywhere},
    {CallKind::kAllToAll, Everywhere},
    {CallKind::kScatter, Everywhere},
};

/// Returns null if the algorithm does not run calls of this kind.
const AlgorithmCase* CaseOf(Algorithm algorithm, CallKind kind) {
  for (const AlgorithmCase& one : RowOf(algorithm).cases)
    if (one.kind == kind) return &one;
  return nullptr;
}

}  // namespace

constinit const AlgorithmRow kOneShotRow{"one_shot", kOneShotCases,
                                         "the description of the call contains the data"};
constinit const AlgorithmRow kSlicesRow{"slices", kSliceCases,
                                        "ranks copy slices through shared stages"};
constinit const AlgorithmRow kZeroCopyRow{
    "zero_copy", kSliceCases, "ranks use registered memory, or memory of threads, in place"};
constinit const AlgorithmRow kFetchRow{"fetch", kFetchCases,
                                       "like zero_copy, and ranks read other memory in place, too"};

constinit const AlgorithmRow kAdaptiveRow{
    "adaptive", kSliceCases, "zero_copy if possible; else slices or fetch, whichever was faster"};

std::optional<Algorithm> NextOf(Algorithm algorithm) {
  const bool may_be_refused = algorithm == Algorithm::kZeroCopy || algorithm == Algorithm::kFetch ||
                              algorithm == Algorithm::kAdaptive;
  return may_be_refused ? std::optional(Algorithm::kSlices) : std::nullopt;
}

std::optional<Algorithm> AlgorithmNamed(std::string_view name) {
  for (std::size_t i = 0; i < kAlgorithms; ++i)
    if (EqualIgnoringCase(name, kAlgorithmRows[i]->name)) return static_cast<Algorithm>(i);
  return std::nullopt;
}

Layout LayoutOnHost(std::uint32_t ranks, std::size_t post_bytes) {
  Groups groups = EvenGroups(ranks, 1);
  std::vector<Rank> order = InOrder(groups);
  return {.order = std::move(order), .groups = std::move(groups), .post_bytes = post_bytes};
}

std::vector<Algorithm> AlgorithmsFor(CallKind kind, const Layout& layout) {
  std::vector<Algorithm> algorithms;
  for (std::size_t i = 0; i < kAlgorithms; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    if (IsOnSharedMemory(algorithm) != SharesMemory(layout)) continue;
    const AlgorithmCase* const one = CaseOf(algorithm, kind);
    if (one && one->fits(layout)) algorithms.push_back(algorithm);
  }
  return algorithms;
}

CallParts BuildParts(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout) {
  const AlgorithmCase* const one = CaseOf(algorithm, call.kind);
  RINGLET_ASSERT(one && one->build);
  return one->build(call, place, layout);
}

Schedule Build(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout) {
  return std::get<Schedule>(std::move(BuildParts(algorithm, call, place, layout).parts.front()));
}

std::uint64_t TimeNs(Algorithm algorithm, const Call& call, const Layout& layout,
                     const CostModel& model) {
  if (layout.order.size() <= 1) return 0;
  const AlgorithmCase* const one = CaseOf(algorithm, call.kind);
  RINGLET_ASSERT(one && one->cost);
  return one->cost(CallCost(call, layout, model));
}

}  // namespace ringlet::collective
