#include "content.hpp"

#include <algorithm>
#include <cstring>

#include "dice.hpp"
#include "numbers.hpp"

namespace oracle {
namespace {

// Products of this number of factors from 1 to 2 stay below the largest number of the type.
int FactorsMax(Type type) {
  if (type == Type::kFloat8e4m3) return 8;
  if (type == Type::kFloat8e5m2 || type == Type::kFloat16) return 15;
  return 100;
}

// Sums of 64 such numbers do not overflow, and products by a scalar do not underflow.
int ExponentMax(Type type) {
  if (type == Type::kFloat8e4m3) return 1;
  if (type == Type::kFloat8e5m2 || type == Type::kFloat16) return 4;
  return type == Type::kBfloat16 ? 8 : 20;
}

}  // namespace

Content::Content(std::uint64_t seed, const Call& call, int ranks)
    : call_(call), key_(Mix(seed * kGolden + call.id)) {
  if (!Reduces(call.kind) || !IsFloat(call.type)) return;
  const int digits = FormatOf(call.type).digits();
  const int room = digits > 20 ? 1 << 20 : 1 << digits;
  small_ = std::clamp(room / ranks, 1, kSmallMax);
  exponent_ = ExponentMax(call.type);
  wide_ = call.values != Values::kExact;
  if (call.op == Op::kProd) {
    exponent_ = 0;
    ones_ = ranks > FactorsMax(call.type);
    exact_ = ones_ || !wide_;
  } else if (call.op != Op::kMax && call.op != Op::kMin) {
    exact_ = !wide_ && small_ * ranks <= room;
  }
  if (call.op == Op::kPreMulSum) small_ = std::max(1, small_ / 2);
  for (int value = -small_; value <= small_; ++value)
    smalls_[value + small_] = EncodeExact(call.type, value);
  const double powers[] = {1, -1, 2, -2, 0.5, -0.5};
  for (int i = 0; i < 6; ++i) powers_[i] = EncodeExact(call.type, powers[i]);
}

std::uint64_t Content::Word(int rank, std::size_t index) const {
  return Mix(key_ + static_cast<std::uint64_t>(rank) * 0xd1342543de82ef95 + index * kGolden);
}

std::uint64_t Content::SmallFloat(std::uint64_t word) const {
  if (call_.op == Op::kProd) return powers_[word % (ones_ ? 2 : 6)];
  return smalls_[word % static_cast<std::uint64_t>(2 * small_ + 1)];
}

std::uint64_t Content::WideFloat(std::uint64_t word) const {
  if (call_.op == Op::kProd && ones_) return SmallFloat(word);
  const Format format = FormatOf(call_.type);
  const std::uint64_t sign = word & 1 ? format.sign_bit() : 0;
  const std::uint64_t mantissa = (word >> 1) & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const auto spread = static_cast<std::uint64_t>(2 * exponent_ + 1);
  const int exponent = static_cast<int>((word >> 54) % spread) - exponent_ + format.bias();
  return sign | static_cast<std::uint64_t>(exponent) << format.mantissa_bits | mantissa;
}

std::uint64_t Content::SpecialFloat(std::uint64_t word) const {
  const Format format = FormatOf(call_.type);
  const std::uint64_t sign = word & 8 ? format.sign_bit() : 0;
  const bool product = call_.op == Op::kProd;
  switch (word >> 61) {
    case 0: return sign;
    case 1: return sign | (format.has_infinity ? format.infinity() : 0);
    case 2: return format.nan();
    case 3: return product ? sign : sign | 1;  // the smallest subnormal
    case 4: return product ? sign : sign | ((std::uint64_t{1} << format.mantissa_bits) - 1);
    default: return WideFloat(word);
  }
}

std::uint64_t Content::Float(std::uint64_t word) const {
  if (!wide_) return SmallFloat(word);
  if (call_.values == Values::kSpecial && (word & 0x70) == 0) return SpecialFloat(Mix(word));
  return WideFloat(word);
}

std::uint64_t Content::Element(int rank, std::size_t index) const {
  const std::uint64_t word = Word(rank, index);
  if (!Reduces(call_.kind)) return word;
  if (IsFloat(call_.type)) return Float(word);
  if (call_.op == Op::kAvg && call_.values == Values::kExact)
    return IsSigned(call_.type) ? (word & 7) - 4 : word & 7;
  return word;
}

std::uint64_t Content::Scalar(int rank) const {
  const std::uint64_t word = Mix(Word(rank, ~std::size_t{0}));
  if (!IsFloat(call_.type)) return word % 5;
  if (!wide_) return powers_[word % (small_ > 1 ? 4 : 2)];
  const Format format = FormatOf(call_.type);
  const std::uint64_t mantissa = word & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  return static_cast<std::uint64_t>(format.bias()) << format.mantissa_bits | mantissa;
}

void Content::Fill(int rank, std::size_t count, std::byte* to) const {
  const std::size_t size = SizeOf(call_.type);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = Element(rank, i);
    std::memcpy(to + i * size, &bits, size);
  }
}

}  // namespace oracle
