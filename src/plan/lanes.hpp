// Eight small numbers that processors subtract at once.
#pragma once
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ringlet::plan {

inline constexpr std::size_t kLanes = 8;
inline constexpr std::uint16_t kLaneMax = 0xffff;

/// The vector types of GCC and clang: the same numbers on every processor.
using Lanes = std::uint16_t __attribute__((vector_size(2 * kLanes)));

/// Lane by lane a - b, or 0 where that is negative.
inline Lanes Less(Lanes a, Lanes b) {
#ifdef __SSE2__
  return Lanes(_mm_subs_epu16(__m128i(a), __m128i(b)));
#else
  return (a > b ? a : b) - b;
#endif
}

/// Lane by lane a + b, or kLaneMax where that is more.
inline Lanes Sum(Lanes a, Lanes b) {
  return ~Less(~a, b);
}

inline Lanes Load(const std::uint16_t* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

inline void Store(Lanes lanes, std::uint16_t* to) {
  std::memcpy(to, &lanes, sizeof lanes);
}

}  // namespace ringlet::plan
