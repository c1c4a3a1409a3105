// Floating-point formats of 8 and 16 bits, one value at a time: for printing, checks and tests.
//
// The reduction kernels (reduce.hpp) have vector code of their own. Tests compare the two, so this
// code is written to be obviously right, not fast.
#pragma once
#include <cstdint>

#include "ringlet/types.hpp"

namespace ringlet::testbed {

/// A sign, `exponent_bits` and `mantissa_bits`, with subnormals, biased as in IEEE 754.
struct NarrowFormat {
  int exponent_bits;
  int mantissa_bits;
  /// True: the largest exponent means infinity and NaN, as in IEEE 754. False: the largest exponent
  /// is an ordinary one, infinity does not exist, and only the pattern of all ones is NaN (OCP's
  /// e4m3).
  bool has_infinity;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

/// Returns the format of kFloat16, kBfloat16, kFloat8e4m3 or kFloat8e5m2, the only valid types.
/// Source  IEEE 754-2019 binary16; OCP 8-bit Floating Point Specification 1.0, table 1.
NarrowFormat FormatOf(DataType type);

/// The value of `bits`, exactly.
double Widen(NarrowFormat format, std::uint16_t bits);

/// Returns the nearest representable value, ties to even. A value above the range becomes infinity,
/// or the largest finite value in a format without infinity. NaN stays NaN.
std::uint16_t Narrow(NarrowFormat format, double value);

}  // namespace ringlet::testbed
