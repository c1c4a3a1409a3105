#include "collective/reduce/reduce.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "ringlet/status.hpp"

// Highway compiles the rest of this file once per instruction set and chooses one at run time. It
// has two targets without vectors. This file uses the simple one, because the other expands to
// loops for every operation. clang 14 with sanitizers compiles those for more than ten minutes.
#undef HWY_BROKEN_EMU128
#define HWY_BROKEN_EMU128 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collective/reduce/reduce.cpp"
#include <hwy/foreach_target.h>  // must precede highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ringlet::collective::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Pointer = const std::byte*;

// ---- Operands: two blocks or any number, known at compile time or not ---------------------------

struct Two {
  static constexpr std::size_t kMax = 2;
  Pointer a, b;
  static HWY_INLINE std::size_t count() { return 2; }
  HWY_INLINE Pointer At(std::size_t i, std::size_t at) const { return (i == 0 ? a : b) + at; }
};
struct Many {
  static constexpr std::size_t kMax = kInputsMax;
  const Pointer* inputs;
  std::size_t inputs_count;
  HWY_INLINE std::size_t count() const { return inputs_count; }
  HWY_INLINE Pointer At(std::size_t i, std::size_t at) const { return inputs[i] + at; }
};

// ---- Operations on vectors of one lane type -----------------------------------------------------

/// The last operation on a result before it is rounded: none.
struct Whole {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V End(D, V result) {
    return result;
  }
};

struct Sum : Whole {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct Average {
  double divisor;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V End(D d, V sum) const {
    return hn::Div(sum, hn::Set(d, static_cast<hn::TFromD<D>>(divisor)));
  }
};

struct Prod : Whole {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

/// Max and Min differ only in the instruction and treat NaN alike.
template <class Choice>
struct Extreme : Whole {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    const V chosen = Choice::Of(a, b);
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, chosen));
    } else {
      return chosen;
    }
  }
};
struct Greater {
  template <class V>
  static HWY_INLINE V Of(V a, V b) {
    return hn::Max(a, b);
  }
};
struct Smaller {
  template <class V>
  static HWY_INLINE V Of(V a, V b) {
    return hn::Min(a, b);
  }
};

struct And : Whole {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::And(a, b);
  }
};
struct Or : Whole {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Or(a, b);
  }
};
struct Xor : Whole {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Xor(a, b);
  }
};

// ---- Formats: conversion between the bytes of a vector and lanes for an operation ---------------

/// Lanes of T as they are in memory.
template <class T>
struct Plain {
  static constexpr bool kFloats = hwy::IsFloat<T>();
  static HWY_INLINE std::size_t StepBytes() { return hn::Lanes(hn::ScalableTag<T>()) * sizeof(T); }
  template <class Op, class Sources>
  static HWY_INLINE void Step(Op op, const Sources& in, std::size_t at, std::byte* out) {
    const hn::ScalableTag<T> d;
    auto result = hn::LoadU(d, reinterpret_cast<const T*>(in.At(0, at)));
    for (std::size_t i = 1; i < in.count(); ++i)
      result = op(d, result, hn::LoadU(d, reinterpret_cast<const T*>(in.At(i, at))));
    hn::StoreU(op.End(d, result), d, reinterpret_cast<T*>(out));
  }
};

/// Multiplies bytes in pairs, because no instruction set multiplies single bytes.
struct BytePairs {
  static HWY_INLINE std::size_t StepBytes() { return Plain<std::uint16_t>::StepBytes(); }
  template <class Sources>
  static HWY_INLINE void Step(Prod, const Sources& in, std::size_t at, std::byte* out) {
    const hn::ScalableTag<std::uint16_t> d;
    auto x = hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(in.At(0, at)));
    for (std::size_t i = 1; i < in.count(); ++i) {
      const auto y = hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(in.At(i, at)));
      const auto low = hn::And(hn::Mul(x, y), hn::Set(d, std::uint16_t{0x00ff}));
      const auto high = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(x), hn::ShiftRight<8>(y)));
      x = hn::Or(low, high);
    }
    hn::StoreU(x, d, reinterpret_cast<std::uint16_t*>(out));
  }
};

/// A bfloat16 is the upper half of a float. Each 32-bit word holds two, one of them in place.
struct Bfloat16 {
  static constexpr bool kFloats = true;
  using D = hn::ScalableTag<float>;
  using DWord = hn::RebindToUnsigned<D>;
  using Word = hn::Vec<DWord>;

  static HWY_INLINE std::size_t StepBytes() { return hn::Lanes(D()) * sizeof(float); }

  template <class Op, class Sources>
  static HWY_INLINE void Step(Op op, const Sources& in, std::size_t at, std::byte* out) {
    const D d;
    const DWord dw;
    const Word upper_half = hn::Set(dw, 0xffff0000u);
    const Word x = hn::LoadU(dw, reinterpret_cast<const std::uint32_t*>(in.At(0, at)));
    auto high = hn::BitCast(d, hn::And(x, upper_half));
    auto low = hn::BitCast(d, hn::ShiftLeft<16>(x));
    for (std::size_t i = 1; i < in.count(); ++i) {
      const Word y = hn::LoadU(dw, reinterpret_cast<const std::uint32_t*>(in.At(i, at)));
      high = op(d, high, hn::BitCast(d, hn::And(y, upper_half)));
      low = op(d, low, hn::BitCast(d, hn::ShiftLeft<16>(y)));
    }
    const Word both = hn::Or(hn::And(Round(op.End(d, high)), upper_half),
                             hn::ShiftRight<16>(Round(op.End(d, low))));
    hn::StoreU(both, dw, reinterpret_cast<std::uint32_t*>(out));
  }

 private:
  /// Returns a float with `value` rounded in its upper half and an arbitrary lower half. NaN needs
  /// no special case. It is an operand's NaN, with zeros below, or the processor's own, 0x7fc00000
  /// with either sign. Rounding adds too little to either to change the upper half.
  static HWY_INLINE Word Round(hn::Vec<D> value) {
    const DWord dw;
    const Word bits = hn::BitCast(dw, value);
    const Word odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(dw, 1u));
    return hn::Add(bits, hn::Add(odd, hn::Set(dw, 0x7fffu)));
  }
};

// Inlining these into every operation takes GCC minutes without vectors or with sanitizers.
#undef RINGLET_CODEC
#if HWY_TARGET == HWY_SCALAR
#define RINGLET_CODEC HWY_NOINLINE
#else
#define RINGLET_CODEC HWY_INLINE
#endif

/// Floating-point numbers of 16 or 8 bits, several per 32-bit word. Integer arithmetic converts
/// them, so that results are equal on every instruction set. The conversion does not depend on the
/// thread's "flush subnormals" mode where that matters.
template <int kExponentBits, int kMantissaBits, bool kHasInfinity>
struct Packed {
  static constexpr bool kFloats = true;
  using D = hn::ScalableTag<float>;
  using DWord = hn::RebindToUnsigned<D>;
  using Word = hn::Vec<DWord>;
  static constexpr int kBits = 1 + kExponentBits + kMantissaBits;
  static constexpr int kShift = 23 - kMantissaBits;  // of a mantissa within a float
  static constexpr std::uint32_t kBias = (1u << (kExponentBits - 1)) - 1;
  static constexpr std::uint32_t kSign = 1u << (kBits - 1);
  static constexpr std::uint32_t kMagnitude = kSign - 1;
  static constexpr std::uint32_t kSmallestNormal = 1u << kMantissaBits;
  static constexpr std::uint32_t kInfinity = kMagnitude + 1 - kSmallestNormal;
  static constexpr std::uint32_t kNan =
      kHasInfinity ? kInfinity + (kSmallestNormal >> 1) : kMagnitude;
  static constexpr std::uint32_t kOverflow = kHasInfinity ? kInfinity : kNan - 1;
  static constexpr std::uint32_t kRebias = (127 - kBias) << 23;

  static HWY_INLINE std::size_t StepBytes() { return hn::Lanes(D()) * sizeof(float); }

  template <class Op, class Sources>
  static HWY_INLINE void Step(Op op, const Sources& in, std::size_t at, std::byte* out) {
    const DWord dw;
    Word result = hn::Or(Part<0>(op, in, at), Part<kBits>(op, in, at));
    if constexpr (kBits == 8) {
      result = hn::Or(result, hn::Or(Part<16>(op, in, at), Part<24>(op, in, at)));
    }
    hn::StoreU(result, dw, reinterpret_cast<std::uint32_t*>(out));
  }

 private:
  /// Reduces the elements at bit `kOffset` of each word, and returns them in their place.
  template <int kOffset, class Op, class Sources>
  static HWY_INLINE Word Part(Op op, const Sources& in, std::size_t at) {
    const DWord dw;
    const auto load = [&](std::size_t i) HWY_ATTR {
      const Word word = hn::LoadU(dw, reinterpret_cast<const std::uint32_t*>(in.At(i, at)));
      return Decode(hn::ShiftRight<kOffset>(word));
    };
    auto result = load(0);
    for (std::size_t i = 1; i < in.count(); ++i) result = op(D(), result, load(i));
    return hn::ShiftLeft<kOffset>(Encode(op.End(D(), result)));
  }

  static RINGLET_CODEC hn::Vec<D> Decode(Word code) {
    const D d;
    const DWord dw;
    const hn::RebindToSigned<D> di;
    const Word magnitude = hn::And(code, hn::Set(dw, kMagnitude));
    const Word in_place = hn::ShiftLeft<kShift>(magnitude);
    const Word normal = hn::Add(in_place, hn::Set(dw, kRebias));
    // A subnormal number is an integer multiple of the smallest one.
    const std::uint32_t smallest = kRebias - ((kMantissaBits - 1u) << 23);
    const auto unit = hn::Set(d, std::bit_cast<float>(smallest));
    const Word subnormal =
        hn::BitCast(dw, hn::Mul(hn::ConvertTo(d, hn::BitCast(di, magnitude)), unit));
    const Word special = hn::Or(in_place, hn::Set(dw, 0x7f800000u));
    const Word finite = hn::IfThenElse(Below(magnitude, kSmallestNormal), subnormal, normal);
    const Word value =
        hn::IfThenElse(Below(magnitude, kHasInfinity ? kInfinity : kNan), finite, special);
    const Word sign = hn::ShiftLeft<32 - kBits>(hn::And(code, hn::Set(dw, kSign)));
    return hn::BitCast(d, hn::Or(value, sign));
  }

  static RINGLET_CODEC Word Encode(hn::Vec<D> value) {
    const D d;
    const DWord dw;
    const Word bits = hn::BitCast(dw, value);
    const Word absolute = hn::And(bits, hn::Set(dw, 0x7fffffffu));
    // Rounds the bits to be cut off. A carry out of the mantissa correctly increments the exponent.
    const Word odd = hn::And(hn::ShiftRight<kShift>(absolute), hn::Set(dw, 1u));
    const Word rounded = hn::Add(absolute, hn::Add(odd, hn::Set(dw, (1u << (kShift - 1)) - 1)));
    const Word normal = hn::ShiftRight<kShift>(hn::Sub(rounded, hn::Set(dw, kRebias)));
    // The anchor's last place is the smallest subnormal, so adding it makes the processor round.
    const std::uint32_t anchor = kRebias + ((kShift + 1u) << 23);
    const auto anchored =
        hn::Add(hn::BitCast(d, absolute), hn::Set(d, std::bit_cast<float>(anchor)));
    const Word subnormal = hn::Sub(hn::BitCast(dw, anchored), hn::Set(dw, anchor));

    Word code = hn::IfThenElse(Below(absolute, kRebias + (1u << 23)), subnormal, normal);
    code = hn::Min(code, hn::Set(dw, kOverflow));
    code = hn::IfThenElse(Below(absolute, 0x7f800001u), code, hn::Set(dw, kNan));
    const Word sign = hn::And(hn::ShiftRight<32 - kBits>(bits), hn::Set(dw, kSign));
    return hn::Or(code, sign);
  }

  /// Both sides are below 2^31, so the signed comparison, which every target has, is correct.
  static HWY_INLINE hn::Mask<DWord> Below(Word word, std::uint32_t bound) {
    const DWord dw;
    const hn::RebindToSigned<D> di;
    return hn::RebindMask(
        dw, hn::Lt(hn::BitCast(di, word), hn::Set(di, static_cast<std::int32_t>(bound))));
  }
};

/// binary16 on processors that convert it and round to nearest even.
struct HardwareHalf {
  static constexpr bool kFloats = true;
  using D = hn::ScalableTag<float>;
  using DHalf = hn::Rebind<hwy::float16_t, D>;

  static HWY_INLINE std::size_t StepBytes() { return hn::Lanes(D()) * sizeof(hwy::float16_t); }

  template <class Op, class Sources>
  static HWY_INLINE void Step(Op op, const Sources& in, std::size_t at, std::byte* out) {
    const D d;
    const DHalf dh;
    const auto load = [&](std::size_t i) HWY_ATTR {
      return hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(in.At(i, at))));
    };
    auto result = load(0);
    for (std::size_t i = 1; i < in.count(); ++i) result = op(d, result, load(i));
    hn::StoreU(hn::DemoteTo(dh, op.End(d, result)), dh, reinterpret_cast<hwy::float16_t*>(out));
  }
};

// Highway's emulation on older targets truncates.
#if (HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || HWY_TARGET == HWY_NEON
using Half = HardwareHalf;
#else
using Half = Packed<5, 10, true>;
#endif
using Float8e4m3 = Packed<4, 3, false>;
using Float8e5m2 = Packed<5, 2, true>;

// ---- Loops and choice ---------------------------------------------------------------------------

template <class Format, class Op, class Sources>
void Loop(Op op, const Sources& in, std::span<std::byte> out) {
  const std::size_t step_bytes = Format::StepBytes();
  std::size_t at = 0;
  for (; at + step_bytes <= out.size(); at += step_bytes) Format::Step(op, in, at, out.data() + at);
  const std::size_t rest_bytes = out.size() - at;
  if (rest_bytes == 0) return;
  // Copies the remainder to a buffer that permits reading and writing a whole step.
  HWY_ALIGN std::byte rest[Sources::kMax * HWY_MAX_BYTES];
  Pointer rests[Sources::kMax];
  std::memset(rest, 0, in.count() * HWY_MAX_BYTES);
  std::memset(rests, 0, in.count() * sizeof *rests);
  for (std::size_t i = 0; i < in.count(); ++i) {
    rests[i] = rest + i * HWY_MAX_BYTES;
    std::memcpy(rest + i * HWY_MAX_BYTES, in.At(i, at), rest_bytes);
  }
  Format::Step(op, Many{rests, in.count()}, 0, rest);
  std::memcpy(out.data() + at, rest, rest_bytes);
}

template <class Format, class ProductFormat = Format, class Sources>
void ReduceFormat(Reduction what, const Sources& in, std::span<std::byte> out) {
  if constexpr (Format::kFloats)
    if (what.op == ReduceOp::kAvg && what.divisor > 1)
      return Loop<Format>(Average{static_cast<double>(what.divisor)}, in, out);
  switch (what.op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
    case ReduceOp::kPreMulSum: return Loop<Format>(Sum(), in, out);
    case ReduceOp::kProd: return Loop<ProductFormat>(Prod(), in, out);
    case ReduceOp::kMax: return Loop<Format>(Extreme<Greater>(), in, out);
    case ReduceOp::kMin: return Loop<Format>(Extreme<Smaller>(), in, out);
    case ReduceOp::kBand:
    case ReduceOp::kBor:
    case ReduceOp::kBxor: return;  // ReduceAll handles these
  }
}

/// Reduces any type, because bits are independent of each other.
template <class Sources>
void ReduceBits(ReduceOp op, const Sources& in, std::span<std::byte> out) {
  if (op == ReduceOp::kBand) return Loop<Plain<std::uint8_t>>(And(), in, out);
  if (op == ReduceOp::kBor) return Loop<Plain<std::uint8_t>>(Or(), in, out);
  Loop<Plain<std::uint8_t>>(Xor(), in, out);
}

template <class Sources>
void ReduceBools(ReduceOp op, const Sources& in, std::span<std::byte> out) {
  const bool all = op == ReduceOp::kProd || op == ReduceOp::kMin;
  ReduceBits(all ? ReduceOp::kBand : ReduceOp::kBor, in, out);
}

template <class Sources>
void ReduceAll(Reduction what, const Sources& in, std::span<std::byte> out) {
  if (what.op >= ReduceOp::kBand) return ReduceBits(what.op, in, out);
  switch (what.type) {
    case DataType::kInt8: return ReduceFormat<Plain<std::int8_t>, BytePairs>(what, in, out);
    case DataType::kUint8: return ReduceFormat<Plain<std::uint8_t>, BytePairs>(what, in, out);
    case DataType::kBool: return ReduceBools(what.op, in, out);
    case DataType::kInt16: return ReduceFormat<Plain<std::int16_t>>(what, in, out);
    case DataType::kInt32: return ReduceFormat<Plain<std::int32_t>>(what, in, out);
    case DataType::kUint32: return ReduceFormat<Plain<std::uint32_t>>(what, in, out);
    case DataType::kInt64: return ReduceFormat<Plain<std::int64_t>>(what, in, out);
    case DataType::kUint64: return ReduceFormat<Plain<std::uint64_t>>(what, in, out);
    case DataType::kFloat16: return ReduceFormat<Half>(what, in, out);
    case DataType::kFloat32: return ReduceFormat<Plain<float>>(what, in, out);
    case DataType::kFloat64: return ReduceFormat<Plain<double>>(what, in, out);
    case DataType::kBfloat16: return ReduceFormat<Bfloat16>(what, in, out);
    case DataType::kFloat8e4m3: return ReduceFormat<Float8e4m3>(what, in, out);
    case DataType::kFloat8e5m2: return ReduceFormat<Float8e5m2>(what, in, out);
  }
}

void ReduceTwo(Reduction what, View a, View b, std::span<std::byte> out) {
  ReduceAll(what, Two{a.data(), b.data()}, out);
}

void ReduceSome(Reduction what, std::span<const Pointer> inputs, std::span<std::byte> out) {
  ReduceAll(what, Many{inputs.data(), inputs.size()}, out);
}

}  // namespace ringlet::collective::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringlet::collective {
namespace {

HWY_EXPORT(ReduceTwo);
HWY_EXPORT(ReduceSome);

template <class T>
void DivideEach(std::span<std::byte> elements, std::uint32_t divisor) {
  // Wide enough for the type's sums and for the divisor: an int8 may be divided by 1000.
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  for (std::size_t at = 0; at < elements.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, elements.data() + at, sizeof(T));
    value = static_cast<T>(static_cast<Wide>(value) / static_cast<Wide>(divisor));
    std::memcpy(elements.data() + at, &value, sizeof(T));
  }
}

/// Divides integers only. Floating-point numbers are divided while they are added.
void DivideIntegers(Reduction what, std::span<std::byte> elements) {
  if (what.op != ReduceOp::kAvg || what.divisor == 1) return;
  switch (what.type) {
    case DataType::kInt8: return DivideEach<std::int8_t>(elements, what.divisor);
    case DataType::kUint8: return DivideEach<std::uint8_t>(elements, what.divisor);
    case DataType::kInt16: return DivideEach<std::int16_t>(elements, what.divisor);
    case DataType::kInt32: return DivideEach<std::int32_t>(elements, what.divisor);
    case DataType::kUint32: return DivideEach<std::uint32_t>(elements, what.divisor);
    case DataType::kInt64: return DivideEach<std::int64_t>(elements, what.divisor);
    case DataType::kUint64: return DivideEach<std::uint64_t>(elements, what.divisor);
    case DataType::kBool:
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kFloat32:
    case DataType::kFloat64:
    case DataType::kFloat8e4m3:
    case DataType::kFloat8e5m2: return;
  }
}

}  // namespace

void ChooseKernels() {
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void Reduce(Reduction what, View a, View b, std::span<std::byte> out) {
  RINGLET_ASSERT(a.size() == out.size() && b.size() == out.size());
  RINGLET_ASSERT(out.size() % SizeOf(what.type) == 0 && what.divisor > 0);
  HWY_DYNAMIC_DISPATCH(ReduceTwo)(what, a, b, out);
  DivideIntegers(what, out);
}

void ReduceMany(Reduction what, std::span<const std::byte* const> inputs,
                std::span<std::byte> out) {
  RINGLET_ASSERT(!inputs.empty() && out.size() % SizeOf(what.type) == 0);
  if (inputs.size() == 2)
    return Reduce(what, {inputs[0], out.size()}, {inputs[1], out.size()}, out);
  RINGLET_ASSERT(inputs.size() <= kInputsMax && what.divisor > 0);
  HWY_DYNAMIC_DISPATCH(ReduceSome)(what, inputs, out);
  DivideIntegers(what, out);
}

void Divide(DataType type, std::span<std::byte> elements, std::uint32_t divisor) {
  const std::byte* const only = elements.data();
  ReduceMany({type, ReduceOp::kAvg, divisor}, {&only, 1}, elements);
}

}  // namespace ringlet::collective
#endif  // HWY_ONCE
