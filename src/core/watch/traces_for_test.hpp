// Traces of ranks for tests.
#pragma once
#include <vector>

#include "watch/rank_trace.hpp"

namespace ringlet::watch {

/// A finished sum of two floats.
inline RecordedOperation SumForTest(std::uint64_t number, Instant began = Instant(0),
                                    Instant ended = Instant(0)) {
  return {.number = number,
          .sequence = number,
          .call = "all_reduce",
          .count = 2,
          .type = "float",
          .reduction = "sum",
          .bytes = 8,
          .progress = OperationState::kDone,
          .began = began,
          .ended = ended};
}

/// A trace of `sums` sums, one every 100 ns from `first` on, each 50 ns long.
inline RankTrace TraceForTest(std::uint32_t rank, std::uint32_t ranks, std::uint64_t sums,
                              Instant first = Instant(1000)) {
  RankTrace trace{.communicator = "00000000000000ab",
                  .rank = rank,
                  .ranks = ranks,
                  .host = "node0",
                  .host_hash = "1",
                  .pid = 100 + rank,
                  .reason = "error",
                  .taken = first + Instant(100) * static_cast<std::int64_t>(sums),
                  .begun = sums,
                  .done = sums};
  trace.taken_unix = trace.taken + Instant(1'000'000);
  for (std::uint64_t i = 0; i < sums; ++i) {
    const Instant began = first + Instant(100) * static_cast<std::int64_t>(i);
    trace.operations.push_back(SumForTest(i, began, began + Instant(50)));
  }
  return trace;
}

/// Changes the last operation of `trace` to begun and unfinished.
inline RankTrace Waiting(RankTrace trace) {
  --trace.done;
  trace.operations.back().progress = OperationState::kBegun;
  trace.operations.back().ended = Instant(0);
  return trace;
}

}  // namespace ringlet::watch
