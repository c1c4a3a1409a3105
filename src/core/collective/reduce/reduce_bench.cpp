// Measures how fast blocks of numbers are reduced. Bytes per second count the result: each byte
// costs two read and one written. Blocks: a slice of the executor, and one that no cache holds.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "collective/reduce/reduce.hpp"

namespace ringlet::collective {
namespace {

constexpr std::size_t kSliceBytes = 64 << 10;
constexpr std::size_t kMemoryBytes = 32 << 20;
constexpr double kSecondsEach = 0.02;  // enough for two digits; the whole program takes seconds

/// Returns values near one, because overflows and subnormals slow the processor down.
Bytes Ones(DataType type, std::size_t bytes) {
  Bytes one(SizeOf(type), std::byte{0});
  const auto set = [&one](auto value) { std::memcpy(one.data(), &value, sizeof(value)); };
  switch (type) {
    case DataType::kFloat16: set(std::uint16_t{0x3c00}); break;
    case DataType::kBfloat16: set(std::uint16_t{0x3f80}); break;
    case DataType::kFloat32: set(1.0f); break;
    case DataType::kFloat64: set(1.0); break;
    case DataType::kFloat8e4m3: set(std::uint8_t{0x38}); break;
    case DataType::kFloat8e5m2: set(std::uint8_t{0x3c}); break;
    case DataType::kBool:
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kUint32:
    case DataType::kInt64:
    case DataType::kUint64: one[0] = std::byte{1}; break;
  }
  Bytes all;
  all.reserve(bytes);
  while (all.size() < bytes) all.insert(all.end(), one.begin(), one.end());
  return all;
}

void ReduceBlocks(benchmark::State& state, Reduction what, std::size_t bytes) {
  const Bytes a = Ones(what.type, bytes);
  const Bytes b = a;
  Bytes out(bytes);
  for (auto _ : state) {
    Reduce(what, a, b, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

void DivideBlocks(benchmark::State& state, DataType type) {
  Bytes elements = Ones(type, kSliceBytes);
  for (auto _ : state) {
    Divide(type, elements, 3);
    benchmark::DoNotOptimize(elements.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(kSliceBytes) * state.iterations());
}

/// The obvious loop, as the compiler translates it, for comparison.
template <class T>
void PlainLoop(benchmark::State& state) {
  const std::vector<T> a(kSliceBytes / sizeof(T), T{1});
  const std::vector<T> b = a;
  std::vector<T> out(a.size());
  for (auto _ : state) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(a[i] + b[i]);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(kSliceBytes) * state.iterations());
}
/// Measures the memory bandwidth of one core: each counted byte is read once and written once.
void Copy(benchmark::State& state) {
  const Bytes from(kMemoryBytes, std::byte{1});
  Bytes to(kMemoryBytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), to.size());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(kMemoryBytes) * state.iterations());
}
BENCHMARK(Copy)->MinTime(kSecondsEach);

BENCHMARK(PlainLoop<float>)->MinTime(kSecondsEach);
BENCHMARK(PlainLoop<std::int8_t>)->MinTime(kSecondsEach);
BENCHMARK(PlainLoop<std::int64_t>)->MinTime(kSecondsEach);

const bool kRegistered = [] {
  for (std::size_t i = 0; i < kDataTypes; ++i) {
    const auto type = static_cast<DataType>(i);
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax}) {
      const std::string name = std::string(Name(type)) + "/" + std::string(Name(op));
      benchmark::RegisterBenchmark((name + "/slice").c_str(), ReduceBlocks, Reduction{type, op},
                                   kSliceBytes)
          ->MinTime(kSecondsEach);
    }
    benchmark::RegisterBenchmark((std::string(Name(type)) + "/sum/memory").c_str(), ReduceBlocks,
                                 Reduction{type, ReduceOp::kSum}, kMemoryBytes)
        ->MinTime(kSecondsEach);
    benchmark::RegisterBenchmark((std::string(Name(type)) + "/divide").c_str(), DivideBlocks, type)
        ->MinTime(kSecondsEach);
  }
  return true;
}();

}  // namespace
}  // namespace ringlet::collective
