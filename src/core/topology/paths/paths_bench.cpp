// Measures the time and memory of all paths of an NVLink domain.
#include <benchmark/benchmark.h>

#include "topo/edit/machines_for_test.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::topology {
namespace {

void PathsOfADomain(benchmark::State& state) {
  const std::vector<HostView> rack = RackForTest(static_cast<std::uint32_t>(state.range(0)) / 4);
  const Graph graph = Build(rack, {}, {.gpus = GpuRanks::kGiven}).value();
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Result<Paths> paths = FindPaths(graph, 0, {});
    bytes = paths.value().bytes();
  }
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(PathsOfADomain)->Arg(8)->Arg(72)->Arg(144)->Arg(576)->Unit(benchmark::kMillisecond);

void GraphOfADomain(benchmark::State& state) {
  const std::vector<HostView> rack = RackForTest(static_cast<std::uint32_t>(state.range(0)) / 4);
  for (auto _ : state)
    benchmark::DoNotOptimize(Build(rack, {}, {.gpus = GpuRanks::kGiven}).value().rank_count());
}
BENCHMARK(GraphOfADomain)->Arg(72)->Arg(576)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ringlet::topology
