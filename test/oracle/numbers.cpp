#include "numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace oracle {

std::uint64_t Format::infinity() const {
  return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
}

Format FormatOf(Type type) {
  switch (type) {
    case Type::kFloat16: return {5, 10};
    case Type::kBfloat16: return {8, 7};
    case Type::kFloat32: return {8, 23};
    case Type::kFloat8e4m3: return {4, 3, false};
    case Type::kFloat8e5m2: return {5, 2};
    default: return {11, 52};
  }
}

long double Decode(Type type, std::uint64_t bits) {
  if (type == Type::kFloat64) return std::bit_cast<double>(bits);
  if (type == Type::kFloat32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  const Format format = FormatOf(type);
  const std::uint64_t magnitude = bits & (format.sign_bit() - 1);
  const long double sign = bits & format.sign_bit() ? -1 : 1;
  if (format.has_infinity && magnitude == format.infinity())
    return sign * std::numeric_limits<long double>::infinity();
  if (format.has_infinity ? magnitude > format.infinity() : magnitude == format.nan())
    return std::numeric_limits<long double>::quiet_NaN();
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const auto mantissa =
      static_cast<double>(magnitude & ((std::uint64_t{1} << format.mantissa_bits) - 1));
  if (exponent == 0)
    return sign * std::ldexp(mantissa, format.smallest_exponent() - format.mantissa_bits);
  const double whole = mantissa + static_cast<double>(1 << format.mantissa_bits);
  return sign * std::ldexp(whole, exponent - format.bias() - format.mantissa_bits);
}

std::uint64_t EncodeExact(Type type, double value) {
  if (value == 0) return 0;
  const Format format = FormatOf(type);
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // from a half up to 1
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, format.digits()));
  const auto biased = static_cast<std::uint64_t>(exponent - 1 + format.bias());
  const std::uint64_t hidden = std::uint64_t{1} << format.mantissa_bits;
  return (value < 0 ? format.sign_bit() : 0) | biased << format.mantissa_bits | (mantissa - hidden);
}

long double UlpAt(Type type, long double value) {
  const Format format = FormatOf(type);
  int exponent = format.smallest_exponent();
  if (value != 0) exponent = std::max(exponent, std::ilogb(value));
  return std::ldexp(1.0L, exponent - format.mantissa_bits);
}

bool IsSigned(Type type) {
  return type == Type::kInt8 || type == Type::kInt32 || type == Type::kInt64;
}

std::uint64_t Widen(Type type, std::uint64_t bits) {
  const int unused = 64 - static_cast<int>(SizeOf(type)) * 8;
  const std::uint64_t high = bits << unused;
  if (!IsSigned(type)) return high >> unused;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(high) >> unused);
}

}  // namespace oracle
