#include "collective/reduce/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "base/value/prng.hpp"
#include "testbed/narrow_float.hpp"

#define HWY_BROKEN_EMU128 1  // as in reduce.cpp
#include <hwy/targets.h>

namespace ringlet::collective {
namespace {

using testbed::FormatOf;
using testbed::Narrow;
using testbed::NarrowFormat;
using testbed::Widen;

// ---- A naive oracle: one element at a time, one rule per line ----------------------------------

template <class T>
T ReadAs(View bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <class T>
Bytes BytesOf(T value) {
  Bytes bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

bool Adds(ReduceOp op) {
  return op == ReduceOp::kSum || op == ReduceOp::kAvg || op == ReduceOp::kPreMulSum;
}

template <class T>
T Combine(ReduceOp op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (op == ReduceOp::kProd) return a * b;
    if (Adds(op)) return a + b;
  } else {
    // Wide and unsigned, so that wrapping is defined.
    const auto wide_a = static_cast<std::uint64_t>(a);
    const auto wide_b = static_cast<std::uint64_t>(b);
    if (op == ReduceOp::kProd) return static_cast<T>(wide_a * wide_b);
    if (Adds(op)) return static_cast<T>(wide_a + wide_b);
    if (op == ReduceOp::kBand) return static_cast<T>(wide_a & wide_b);
    if (op == ReduceOp::kBor) return static_cast<T>(wide_a | wide_b);
    if (op == ReduceOp::kBxor) return static_cast<T>(wide_a ^ wide_b);
  }
  return op == ReduceOp::kMax ? std::max(a, b) : std::min(a, b);
}

/// Calls `visitor` with a zero of the C++ type of `type`, or with nullptr for narrow formats.
template <class Visitor>
auto WithType(DataType type, Visitor visitor) {
  switch (type) {
    case DataType::kInt8: return visitor(std::int8_t{});
    case DataType::kUint8: return visitor(std::uint8_t{});
    case DataType::kBool: return visitor(std::uint8_t{});
    case DataType::kInt16: return visitor(std::int16_t{});
    case DataType::kInt32: return visitor(std::int32_t{});
    case DataType::kUint32: return visitor(std::uint32_t{});
    case DataType::kInt64: return visitor(std::int64_t{});
    case DataType::kUint64: return visitor(std::uint64_t{});
    case DataType::kFloat32: return visitor(float{});
    case DataType::kFloat64: return visitor(double{});
    default: return visitor(nullptr);
  }
}

std::uint16_t NarrowBits(DataType type, View element) {
  return SizeOf(type) == 1 ? ReadAs<std::uint8_t>(element) : ReadAs<std::uint16_t>(element);
}

Bytes NarrowBytes(DataType type, double value) {
  const std::uint16_t bits = Narrow(FormatOf(type), value);
  return SizeOf(type) == 1 ? BytesOf(static_cast<std::uint8_t>(bits)) : BytesOf(bits);
}

double NarrowValue(DataType type, View element) {
  return Widen(FormatOf(type), NarrowBits(type, element));
}

// Applies to bytes that are 0 or 1. The result of other bytes is unspecified but always this.
ReduceOp OfBools(ReduceOp op) {
  if (op == ReduceOp::kSum || op == ReduceOp::kMax) return ReduceOp::kBor;
  return op == ReduceOp::kProd || op == ReduceOp::kMin ? ReduceOp::kBand : op;
}

Bytes ReduceOne(Reduction what, View a, View b) {
  if (what.type == DataType::kBool) what.op = OfBools(what.op);
  return WithType(what.type, [&](auto zero) -> Bytes {
    if constexpr (std::is_null_pointer_v<decltype(zero)>) {
      return NarrowBytes(what.type,
                         Combine(what.op, NarrowValue(what.type, a), NarrowValue(what.type, b)));
    } else {
      using T = decltype(zero);
      return BytesOf(Combine(what.op, ReadAs<T>(a), ReadAs<T>(b)));
    }
  });
}

Bytes DivideOne(DataType type, View element, std::uint32_t divisor) {
  return WithType(type, [&](auto zero) -> Bytes {
    using T = decltype(zero);
    if constexpr (std::is_null_pointer_v<T>) {
      // The quotient is a float first: see reduce.hpp.
      const auto value = static_cast<float>(NarrowValue(type, element));
      return NarrowBytes(type, value / static_cast<float>(divisor));
    } else if constexpr (std::is_floating_point_v<T>) {
      return BytesOf(static_cast<T>(ReadAs<T>(element) / static_cast<T>(divisor)));
    } else if constexpr (std::is_signed_v<T>) {
      return BytesOf(static_cast<T>(std::int64_t{ReadAs<T>(element)} / std::int64_t{divisor}));
    } else {
      return BytesOf(static_cast<T>(ReadAs<T>(element) / std::uint64_t{divisor}));
    }
  });
}

/// Returns the value of a floating-point element, or 0 for integers, which are compared as bytes.
double ValueOf(DataType type, View element) {
  if (type == DataType::kFloat32) return double{ReadAs<float>(element)};
  if (type == DataType::kFloat64) return ReadAs<double>(element);
  const bool narrow =
      type == DataType::kFloat16 || (type > DataType::kFloat64 && type <= DataType::kFloat8e5m2);
  return narrow ? NarrowValue(type, element) : 0;
}

/// Compares bit for bit, except for payloads of NaN and signs of zero (see reduce.hpp).
bool Same(Reduction what, View a, View b) {
  if (std::equal(a.begin(), a.end(), b.begin(), b.end())) return true;
  const double x = ValueOf(what.type, a);
  const double y = ValueOf(what.type, b);
  if (std::isnan(x) && std::isnan(y)) return true;
  const bool extreme = what.op == ReduceOp::kMax || what.op == ReduceOp::kMin;
  const bool is_float = what.type >= DataType::kFloat16 && what.type <= DataType::kFloat8e5m2;
  return extreme && is_float && x == 0 && y == 0;
}

// ---- Every type and operation, on every instruction set of this machine -------------------------

std::vector<std::int64_t> Targets() {
  std::vector<std::int64_t> targets;
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    targets.push_back(rest & -rest);
  }
  return targets;
}

/// A test that runs once per instruction set.
class ReduceOnTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { Choose(GetParam()); }
  void TearDown() override { Choose(0); }

 private:
  static void Choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

void ExpectAsOracle(Reduction what, View a, View b, View out) {
  const std::size_t size = SizeOf(what.type);
  for (std::size_t at = 0; at < out.size(); at += size) {
    const Bytes expected = ReduceOne(what, a.subspan(at, size), b.subspan(at, size));
    ASSERT_TRUE(Same(what, expected, out.subspan(at, size)))
        << Name(what.type) << ' ' << Name(what.op) << " element " << at / size << " of "
        << out.size() / size << ": " << ValueOf(what.type, a.subspan(at, size)) << ", "
        << ValueOf(what.type, b.subspan(at, size)) << " gave "
        << ValueOf(what.type, out.subspan(at, size)) << ", not " << ValueOf(what.type, expected);
  }
}

/// Returns random bit patterns, with every kind of NaN, infinity and subnormal among them.
Bytes RandomBytes(std::size_t bytes, Prng& prng) {
  Bytes result(bytes);
  for (std::byte& byte : result) byte = static_cast<std::byte>(prng.Next() >> 56);
  return result;
}

TEST_P(ReduceOnTarget, MatchesTheReferenceAtAnyLengthAndAlignment) {
  Prng prng(1);
  for (std::size_t type = 0; type < kDataTypes; ++type) {
    for (std::size_t op = 0; op < kReduceOps; ++op) {
      const Reduction what{static_cast<DataType>(type), static_cast<ReduceOp>(op)};
      if (!Reduces(what.op, what.type)) continue;
      for (std::size_t count = 0; count <= 67; ++count) {
        const std::size_t bytes = count * SizeOf(what.type);
        const std::size_t shift = count % 9;
        const Bytes a = RandomBytes(bytes + shift, prng);
        const Bytes b = RandomBytes(bytes + 1, prng);
        Bytes out(bytes + 5 + 1, std::byte{0x5a});
        const View a_view = View(a).subspan(shift);
        const View b_view = View(b).subspan(1);
        const auto out_span = std::span(out).subspan(5, bytes);
        Reduce(what, a_view, b_view, out_span);
        ExpectAsOracle(what, a_view, b_view, out_span);
        EXPECT_EQ(out.back(), std::byte{0x5a}) << "wrote past the end";
        EXPECT_EQ(out[4], std::byte{0x5a}) << "wrote before the beginning";
      }
    }
  }
}

TEST_P(ReduceOnTarget, WorksInPlaceOnEitherOperand) {
  Prng prng(2);
  for (std::size_t type = 0; type < kDataTypes; ++type) {
    const Reduction what{static_cast<DataType>(type), ReduceOp::kProd};
    const std::size_t bytes = 131 * SizeOf(what.type);
    const Bytes a = RandomBytes(bytes, prng);
    const Bytes b = RandomBytes(bytes, prng);
    Bytes a_and_out = a;
    Reduce(what, a_and_out, b, a_and_out);
    ExpectAsOracle(what, a, b, a_and_out);
    Bytes b_and_out = b;
    Reduce(what, a, b_and_out, b_and_out);
    ExpectAsOracle(what, a, b, b_and_out);
  }
}

TEST_P(ReduceOnTarget, IsExactForEveryPairOfEightBitFloats) {
  Bytes a(1 << 16);
  Bytes b(1 << 16);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<std::byte>(i >> 8);
    b[i] = static_cast<std::byte>(i & 0xff);
  }
  for (const DataType type : {DataType::kFloat8e4m3, DataType::kFloat8e5m2}) {
    for (std::size_t op = 0; op < kReduceOps; ++op) {
      const Reduction what{type, static_cast<ReduceOp>(op)};
      if (!Reduces(what.op, what.type)) continue;
      Bytes out(a.size());
      Reduce(what, a, b, out);
      ExpectAsOracle(what, a, b, out);
    }
  }
}

TEST_P(ReduceOnTarget, MatchesTheReferenceForEverySixteenBitFloat) {
  Bytes all(2 << 16);
  for (std::size_t i = 0; i < 1 << 16; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    std::memcpy(all.data() + 2 * i, &bits, 2);
  }
  Prng prng(3);
  const Bytes others = RandomBytes(all.size(), prng);
  for (const DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    // Ones leave a product unchanged, equal partners double up to overflow, others round.
    Bytes ones;
    for (std::size_t i = 0; i < 1 << 16; ++i) {
      const Bytes one = NarrowBytes(type, 1);
      ones.insert(ones.end(), one.begin(), one.end());
    }
    for (const Bytes* partner : std::initializer_list<const Bytes*>{&ones, &all, &others}) {
      for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax}) {
        Bytes out(all.size());
        Reduce({type, op}, all, *partner, out);
        ExpectAsOracle({type, op}, all, *partner, out);
      }
    }
  }
}

TEST_P(ReduceOnTarget, DividesLikeTheReference) {
  Prng prng(4);
  for (std::size_t type = 0; type < kDataTypes; ++type) {
    const auto data_type = static_cast<DataType>(type);
    if (!Reduces(ReduceOp::kAvg, data_type)) continue;
    const std::size_t size = SizeOf(data_type);
    for (const std::uint32_t divisor : {1u, 2u, 3u, 7u, 64u, 1000u}) {
      const Bytes before = RandomBytes(997 * size, prng);
      Bytes after = before;
      Divide(data_type, after, divisor);
      for (std::size_t at = 0; at < before.size(); at += size) {
        const Bytes expected = DivideOne(data_type, View(before).subspan(at, size), divisor);
        ASSERT_TRUE(Same({data_type, ReduceOp::kAvg}, expected, View(after).subspan(at, size)))
            << Name(data_type) << " / " << divisor << " at " << at / size;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ReduceOnTarget, testing::ValuesIn(Targets()),
                         [](const auto& test) { return std::string(hwy::TargetName(test.param)); });

// ---- Statements of the contract -----------------------------------------------------------------

template <class T>
T ReduceValues(Reduction what, T a, T b) {
  Bytes out(sizeof(T));
  Reduce(what, BytesOf(a), BytesOf(b), out);
  return ReadAs<T>(out);
}

TEST(Reduce, IntegersWrapAround) {
  EXPECT_EQ((ReduceValues<std::int8_t>({DataType::kInt8, ReduceOp::kSum}, 127, 1)), -128);
  EXPECT_EQ((ReduceValues<std::uint8_t>({DataType::kUint8, ReduceOp::kProd}, 16, 17)), 16);
  EXPECT_EQ((ReduceValues<std::int32_t>({DataType::kInt32, ReduceOp::kSum},
                                        std::numeric_limits<std::int32_t>::max(), 1)),
            std::numeric_limits<std::int32_t>::min());
}

TEST(Reduce, MaxAndMinPropagateNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin}) {
    EXPECT_TRUE(std::isnan(ReduceValues<float>({DataType::kFloat32, op}, nan, 1)));
    EXPECT_TRUE(std::isnan(ReduceValues<float>({DataType::kFloat32, op}, 1, nan)));
  }
}

TEST(Reduce, OverflowSaturatesOnlyInTypesWithoutInfinity) {
  const auto add_largest = [](DataType type, std::uint8_t largest) {
    const auto sum = ReduceValues<std::uint8_t>({type, ReduceOp::kSum}, largest, largest);
    return Widen(FormatOf(type), sum);
  };
  EXPECT_EQ(add_largest(DataType::kFloat8e4m3, 0x7e), 448);
  EXPECT_TRUE(std::isinf(add_largest(DataType::kFloat8e5m2, 0x7b)));
}

TEST(ReduceMany, EqualsPairwiseReductionIfNoResultIsRounded) {
  Prng prng(7);
  for (std::size_t t = 0; t < kDataTypes; ++t) {
    const auto type = static_cast<DataType>(t);
    const bool narrow = type == DataType::kFloat16 || type == DataType::kBfloat16 ||
                        type == DataType::kFloat8e4m3 || type == DataType::kFloat8e5m2;
    for (std::size_t o = 0; o < kReduceOps; ++o) {
      const auto op = static_cast<ReduceOp>(o);
      if (!Reduces(op, type)) continue;
      // Tests narrow formats only with the operations that never round: the extremes.
      if (narrow && op != ReduceOp::kMax && op != ReduceOp::kMin) continue;
      for (const std::size_t inputs :
           {std::size_t{1}, std::size_t{2}, std::size_t{9}, kInputsMax}) {
        for (const std::size_t count : {1u, 7u, 64u, 333u}) {
          const std::size_t bytes = count * SizeOf(type);
          std::vector<Bytes> blocks(inputs, Bytes(bytes));
          for (Bytes& block : blocks)
            for (std::byte& byte : block)
              byte = static_cast<std::byte>(prng.Below(type == DataType::kBool ? 2 : 0x38));
          Bytes chain = blocks[0];
          for (std::size_t i = 1; i < inputs; ++i) Reduce({type, op}, chain, blocks[i], chain);
          std::vector<const std::byte*> pointers;
          for (const Bytes& block : blocks) pointers.push_back(block.data());
          ReduceMany({type, op}, pointers, blocks[inputs - 1]);  // in place in the last input
          EXPECT_EQ(blocks[inputs - 1], chain) << Name(type) << ' ' << Name(op) << ' ' << inputs;
        }
      }
    }
  }
}

TEST(ReduceMany, RoundsNarrowFloatsOnceAtTheEnd) {
  for (const DataType type :
       {DataType::kBfloat16, DataType::kFloat16, DataType::kFloat8e4m3, DataType::kFloat8e5m2}) {
    // Computes 1 + ulp/2 + ulp/2: each half alone vanishes, but together they are a step.
    const NarrowFormat format = FormatOf(type);
    const double half_step = std::ldexp(0.5, -format.mantissa_bits);
    const Bytes one = NarrowBytes(type, 1), half = NarrowBytes(type, half_step);
    Bytes out(one.size());
    const std::byte* const inputs[] = {one.data(), half.data(), half.data()};
    ReduceMany({type, ReduceOp::kSum}, inputs, out);
    EXPECT_EQ(out, NarrowBytes(type, 1 + 2 * half_step)) << Name(type);
  }
}

// Uses whole numbers with sums that a float holds exactly, so that an average has one right result.
// The sums exceed the narrow types.
TEST(ReduceMany, RoundsAveragesOnce) {
  Prng prng(11);
  for (const DataType type :
       {DataType::kBfloat16, DataType::kFloat16, DataType::kFloat8e4m3, DataType::kFloat8e5m2}) {
    const NarrowFormat format = FormatOf(type);
    const std::uint64_t below = std::uint64_t{2} << format.mantissa_bits;
    for (std::uint32_t inputs = 2; inputs <= 9; ++inputs)
      for (int round = 0; round < 500; ++round) {
        double sum = 0;
        std::vector<Bytes> elements;
        std::vector<const std::byte*> pointers;
        for (std::uint32_t i = 0; i < inputs; ++i) {
          const double value =
              static_cast<double>(prng.Below(below)) - static_cast<double>(below / 4);
          sum += value;
          elements.push_back(NarrowBytes(type, value));
          pointers.push_back(elements.back().data());
        }
        Bytes out(SizeOf(type));
        ReduceMany({type, ReduceOp::kAvg, inputs}, pointers, out);
        ASSERT_EQ(out, NarrowBytes(type, sum / inputs))
            << Name(type) << ' ' << sum << " / " << inputs;
      }
  }
}

TEST(ReduceMany, DividesIntegersAndFloatsAfterTheirSum) {
  const std::int32_t whole[] = {-5, -5, 2};
  const float real[] = {0.1f, 0.2f, 0.4f};
  const auto average = [](DataType type, const auto& values, auto out) {
    const std::byte* inputs[3];
    for (int i = 0; i < 3; ++i) inputs[i] = reinterpret_cast<const std::byte*>(&values[i]);
    ReduceMany({type, ReduceOp::kAvg, 3}, inputs, std::as_writable_bytes(std::span(&out, 1)));
    return out;
  };
  EXPECT_EQ(average(DataType::kInt32, whole, std::int32_t{0}), -2);
  EXPECT_EQ(average(DataType::kFloat32, real, 0.0f), ((0.1f + 0.2f) + 0.4f) / 3.0f);
}

}  // namespace
}  // namespace ringlet::collective
