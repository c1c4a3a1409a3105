// Decodes the bits of an element, as plainly as the formats are defined.
#pragma once
#include <cstdint>

#include "program.hpp"

namespace oracle {

/// A floating-point format: sign, exponent, mantissa, from the highest bit down.
struct Format {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  bool has_infinity = true;  ///< otherwise all bits set is NaN, without infinity (OCP's e4m3)

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int smallest_exponent() const { return 1 - bias(); }
  int digits() const { return mantissa_bits + 1; }
  std::uint64_t sign_bit() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  std::uint64_t infinity() const;
  std::uint64_t nan() const { return sign_bit() - 1; }
};

/// \param type  a floating-point type
Format FormatOf(Type type);

/// Returns the value of the lowest sizeof(type) bytes of `bits`.
long double Decode(Type type, std::uint64_t bits);

/// \param value  exact in the type, not a subnormal, NaN or infinity
std::uint64_t EncodeExact(Type type, double value);

/// Returns the distance between neighbours near `value`, which is finite.
long double UlpAt(Type type, long double value);

bool IsSigned(Type type);
/// Returns the integer of the lowest bytes of `bits`, extended to 64 bits.
std::uint64_t Widen(Type type, std::uint64_t bits);

}  // namespace oracle
