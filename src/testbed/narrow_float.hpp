// Floating-point formats of 8 and 16 bits, one value at a time: for printing, checking and tests.
//
// The reduction kernels (reduce.hpp) have vector code of their own; the tests hold the two against
// each other, so this one is written to be obviously right, not fast.
#pragma once
#include <cstdint>

#include "ringlet/types.hpp"

namespace ringlet::testbed {

/// A sign, `exponent_bits` and `mantissa_bits`, with subnormals, biased as in IEEE 754.
struct NarrowFormat {
  int exponent_bits;
  int mantissa_bits;
  /// True: the largest exponent means infinity and NaN, as in IEEE 754. False: it is an ordinary
  /// one, there is no infinity, and only the pattern of all ones is NaN (OCP's e4m3).
  bool has_infinity;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

/// The format of kFloat16, kBfloat16, kFloat8e4m3 or kFloat8e5m2; no other type is asked for.
/// Source  IEEE 754-2019 binary16; OCP 8-bit Floating Point Specification 1.0, table 1.
NarrowFormat FormatOf(DataType type);

/// The value of `bits`, exactly.
double Widen(NarrowFormat format, std::uint16_t bits);

/// The nearest representable value, ties to even. A value that is too large becomes infinity if
/// there is one and the largest finite value if there is none. NaN stays NaN.
std::uint16_t Narrow(NarrowFormat format, double value);

}  // namespace ringlet::testbed
