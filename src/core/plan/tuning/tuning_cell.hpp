// Computes a cell of the tuning table: bandwidth and latency of a function, algorithm and protocol.
#pragma once
#include "plan/tuning/tuning.hpp"

namespace ringlet::plan {

/// Uses NCCL 2.30's numbers for generations of GPUs and numbers of nodes.
/// \return MB/s and ns
TuningCell CellOf(const TuningInput& input, Function function, NcclAlgorithm algorithm,
                  Protocol protocol);

/// The graph that supplies an algorithm's channels.
const Common& GraphOf(const TuningInput& input, NcclAlgorithm algorithm);

/// The fraction, in tenths, of its bandwidth that a tree reaches in an all-reduce of `bytes`.
std::uint32_t TreeTenths(Protocol protocol, std::uint64_t bytes);

}  // namespace ringlet::plan
