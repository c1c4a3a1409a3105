// Measures the cost of encoding the fingerprint of an operation and checking a peer's.
#include <benchmark/benchmark.h>

#include "collective/call/fingerprint.hpp"

namespace ringlet::collective {
namespace {

void EncodeAndCheck(benchmark::State& state) {
  Fingerprint call{.operation = CallKind::kBroadcast, .count = 2, .root = Rank{1}};
  for (auto _ : state) {
    ++call.sequence;
    const Header header = EncodeHeader(call, Rank{1});
    benchmark::DoNotOptimize(CheckHeader(header, Rank{1}, call, Rank{0}).ok());
  }
}
BENCHMARK(EncodeAndCheck);

}  // namespace
}  // namespace ringlet::collective
