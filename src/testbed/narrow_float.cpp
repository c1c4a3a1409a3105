#include "testbed/narrow_float.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ringlet/status.hpp"

namespace ringlet::testbed {
namespace {

std::uint16_t LargestFinite(NarrowFormat format) {
  const int all_ones = (1 << (format.exponent_bits + format.mantissa_bits)) - 1;
  return static_cast<std::uint16_t>(format.has_infinity ? all_ones - (1 << format.mantissa_bits)
                                                        : all_ones - 1);
}

std::uint16_t NotANumber(NarrowFormat format) {
  const int all_ones = (1 << (format.exponent_bits + format.mantissa_bits)) - 1;
  const int quiet_bit = 1 << (format.mantissa_bits - 1);
  const int infinity = all_ones - (1 << format.mantissa_bits) + 1;
  return static_cast<std::uint16_t>(format.has_infinity ? infinity + quiet_bit : all_ones);
}

}  // namespace

NarrowFormat FormatOf(DataType type) {
  if (type == DataType::kFloat16) return {5, 10, true};
  if (type == DataType::kBfloat16) return {8, 7, true};
  if (type == DataType::kFloat8e4m3) return {4, 3, false};
  RINGLET_ASSERT(type == DataType::kFloat8e5m2);
  return {5, 2, true};
}

double Widen(NarrowFormat format, std::uint16_t bits) {
  const int magnitude = bits & ((1 << (format.bits() - 1)) - 1);
  const double sign = (bits >> (format.bits() - 1)) != 0 ? -1 : 1;
  const int mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
  const int exponent = magnitude >> format.mantissa_bits;
  if (magnitude > LargestFinite(format)) {
    const bool infinite = format.has_infinity && mantissa == 0;
    return sign * (infinite ? std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::quiet_NaN());
  }
  const int hidden_bit = exponent > 0 ? 1 << format.mantissa_bits : 0;
  const int power = std::max(exponent, 1) - format.bias() - format.mantissa_bits;
  return sign * std::ldexp(hidden_bit + mantissa, power);
}

std::uint16_t Narrow(NarrowFormat format, double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 1 << (format.bits() - 1) : 0);
  const auto with_sign = [sign](int magnitude) {
    return static_cast<std::uint16_t>(sign | magnitude);
  };
  if (std::isnan(value)) return with_sign(NotANumber(format));
  const int overflow = LargestFinite(format) + (format.has_infinity ? 1 : 0);
  if (std::isinf(value)) return with_sign(overflow);
  if (value == 0) return sign;
  // One unit in the last place at this magnitude. Subnormals share that of the smallest normal.
  const int exponent = std::max(std::ilogb(value), 1 - format.bias());
  const double units =
      std::nearbyint(std::ldexp(std::fabs(value), format.mantissa_bits - exponent));
  // A rounded-up mantissa carries into the exponent field, as intended. A value above the range has
  // an exponent beyond the field, and a double's exponent fits an int.
  const int hidden_bit = 1 << format.mantissa_bits;
  const int magnitude =
      ((exponent + format.bias()) << format.mantissa_bits) + static_cast<int>(units) - hidden_bit;
  return with_sign(magnitude > LargestFinite(format) ? overflow : magnitude);
}

}  // namespace ringlet::testbed
