// Vectors of eight 16-bit numbers for SIMD instructions.
#pragma once
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ringlet::plan {

inline constexpr std::size_t kLanes = 8;
inline constexpr std::uint16_t kLaneMax = 0xffff;

/// A vector type of GCC and clang. Gives the same numbers on every processor.
using SimdU16x8 = std::uint16_t __attribute__((vector_size(2 * kLanes)));

/// Returns max(a - b, 0) in each lane.
inline SimdU16x8 Less(SimdU16x8 a, SimdU16x8 b) {
#ifdef __SSE2__
  return SimdU16x8(_mm_subs_epu16(__m128i(a), __m128i(b)));
#else
  return (a > b ? a : b) - b;
#endif
}

/// Returns min(a + b, kLaneMax) in each lane.
inline SimdU16x8 Sum(SimdU16x8 a, SimdU16x8 b) {
  return ~Less(~a, b);
}

inline SimdU16x8 Load(const std::uint16_t* from) {
  SimdU16x8 lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

inline void Store(SimdU16x8 lanes, std::uint16_t* to) {
  std::memcpy(to, &lanes, sizeof lanes);
}

}  // namespace ringlet::plan
