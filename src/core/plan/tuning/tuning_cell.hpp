// One cell of the tuning table: bandwidth and latency of one function by one algorithm and
// protocol.
#pragma once
#include "plan/tuning/tuning.hpp"

namespace ringlet::plan {

/// The numbers that NCCL 2.30 has for generations of GPUs and numbers of nodes.
/// \return MB/s and ns
TuningCell CellOf(const TuningInput& input, Function function, NcclAlgorithm algorithm,
                  Protocol protocol);

/// The graph whose channels an algorithm uses.
const Common& GraphOf(const TuningInput& input, NcclAlgorithm algorithm);

/// The share of its bandwidth, in tenths, that a tree has for an all-reduce of so many bytes.
std::uint32_t TreeTenths(Protocol protocol, std::uint64_t bytes);

}  // namespace ringlet::plan
