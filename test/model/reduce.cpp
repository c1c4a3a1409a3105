// Reductions of int32 sums only, one element at a time. The library has vector code for five
// instruction sets instead, which needs no exploration.
#include "collective/reduce/reduce.hpp"

#include <cstring>

namespace ringlet::collective {

void ReduceMany(Reduction, std::span<const std::byte* const> inputs, std::span<std::byte> out) {
  for (std::size_t at = 0; at < out.size(); at += sizeof(std::int32_t)) {
    std::int32_t sum = 0;
    for (const std::byte* const input : inputs) {
      std::int32_t value = 0;
      std::memcpy(&value, input + at, sizeof value);
      sum += value;
    }
    std::memcpy(out.data() + at, &sum, sizeof sum);
  }
}

void Divide(DataType, std::span<std::byte>, std::uint32_t) {}

}  // namespace ringlet::collective
