// The oracle here is independent of check_data.cpp. It reads the inputs back as bytes and combines
// them step by step in the type itself. It uses its own orders and rounds after every step.
#include "tool/bench/check_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "base/value/prng.hpp"
#include "testbed/narrow_float.hpp"

namespace ringlet::cli {
namespace {

constexpr DataType kAllTypes[] = {DataType::kInt8,      DataType::kUint8,    DataType::kInt16,
                                  DataType::kInt32,     DataType::kUint32,   DataType::kInt64,
                                  DataType::kUint64,    DataType::kFloat16,  DataType::kFloat32,
                                  DataType::kFloat64,   DataType::kBfloat16, DataType::kFloat8e4m3,
                                  DataType::kFloat8e5m2};
constexpr ReduceOp kAllOps[] = {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax, ReduceOp::kMin,
                                ReduceOp::kAvg, ReduceOp::kBand, ReduceOp::kBor, ReduceOp::kBxor};

template <typename T>
T Combine(ReduceOp op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (op == ReduceOp::kBand) return static_cast<T>(a & b);
    if (op == ReduceOp::kBor) return static_cast<T>(a | b);
    if (op == ReduceOp::kBxor) return static_cast<T>(a ^ b);
  }
  switch (op) {
    case ReduceOp::kProd: return static_cast<T>(a * b);
    case ReduceOp::kMax: return std::max(a, b);
    case ReduceOp::kMin: return std::min(a, b);
    default: return static_cast<T>(a + b);
  }
}

template <typename T>
void FoldAs(const CheckShape& shape, const std::vector<const std::byte*>& inputs, std::byte* out) {
  std::vector<T> values(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) std::memcpy(&values[i], inputs[i], sizeof(T));
  T total = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) total = Combine(shape.op, total, values[i]);
  using Wide = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  if (shape.op == ReduceOp::kAvg)
    total = static_cast<T>(static_cast<Wide>(total) / static_cast<Wide>(shape.ranks));
  std::memcpy(out, &total, sizeof total);
}

void FoldNarrow(const CheckShape& shape, const std::vector<const std::byte*>& inputs,
                std::byte* out) {
  const auto format = testbed::FormatOf(shape.type);
  const std::size_t size = SizeOf(shape.type);
  const auto read = [&](const std::byte* from) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from, size);
    return testbed::Widen(format, bits);
  };
  double total = read(inputs[0]);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const double exact = Combine(shape.op, total, read(inputs[i]));
    total = testbed::Widen(format, testbed::Narrow(format, exact));
  }
  if (shape.op == ReduceOp::kAvg) total /= shape.ranks;
  const std::uint16_t bits = testbed::Narrow(format, total);
  std::memcpy(out, &bits, size);
}

void Fold(const CheckShape& shape, const std::vector<const std::byte*>& inputs, std::byte* out) {
  switch (shape.type) {
    case DataType::kInt8: return FoldAs<std::int8_t>(shape, inputs, out);
    case DataType::kUint8: return FoldAs<std::uint8_t>(shape, inputs, out);
    case DataType::kInt16: return FoldAs<std::int16_t>(shape, inputs, out);
    case DataType::kInt32: return FoldAs<std::int32_t>(shape, inputs, out);
    case DataType::kUint32: return FoldAs<std::uint32_t>(shape, inputs, out);
    case DataType::kInt64: return FoldAs<std::int64_t>(shape, inputs, out);
    case DataType::kUint64: return FoldAs<std::uint64_t>(shape, inputs, out);
    case DataType::kFloat32: return FoldAs<float>(shape, inputs, out);
    case DataType::kFloat64: return FoldAs<double>(shape, inputs, out);
    default: return FoldNarrow(shape, inputs, out);
  }
}

// Returns the output of an all-reduce that combines ranks in a random order for each element.
Bytes Reduced(const CheckShape& shape, std::size_t count, std::uint64_t seed) {
  const std::size_t size = SizeOf(shape.type);
  std::vector<Bytes> inputs(shape.ranks, Bytes(count * size));
  for (std::uint32_t rank = 0; rank < shape.ranks; ++rank)
    FillInput(shape, Rank{rank}, inputs[rank]);
  Prng prng(seed);
  std::vector<std::size_t> order(shape.ranks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Bytes output(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[prng.Below(k)]);
    std::vector<const std::byte*> elements;
    for (const std::size_t rank : order) elements.push_back(inputs[rank].data() + i * size);
    Fold(shape, elements, output.data() + i * size);
  }
  return output;
}

void ExpectRight(const CheckShape& shape, std::size_t count) {
  EXPECT_EQ(CountWrongOutput(shape, Reduced(shape, count, shape.ranks)), 0u)
      << Name(shape.type) << " " << Name(shape.op) << " over " << shape.ranks << " ranks";
}

TEST(CheckDataTest, TheExpectationHoldsForEveryTypeOperationAndOrder) {
  for (const DataType type : kAllTypes)
    for (const ReduceOp op : kAllOps)
      for (const std::uint32_t ranks : {1u, 2u, 3u, 4u, 8u, 17u, 30u})
        if (Reduces(op, type)) ExpectRight({type, op, ranks}, 101);
}

TEST(CheckDataTest, AcceptsMoreRanksThanTheTypeHasNumbers) {
  for (const DataType type : {DataType::kInt8, DataType::kUint8, DataType::kFloat8e5m2})
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg})
      for (const std::uint32_t ranks : {127u, 128u, 255u, 256u, 300u})
        ExpectRight({type, op, ranks}, 31);
}

// A larger product would exceed the exact numbers of the narrowest type.
TEST(CheckDataTest, ProductsAreTwelveForThreeRanksOrMore) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 5u, 64u})
    for (std::size_t index = 0; index < 2 * ranks; ++index) {
      std::int64_t product = 1;
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        product *= InputValue({DataType::kFloat8e5m2, ReduceOp::kProd, ranks}, Rank{rank}, index);
      EXPECT_EQ(std::abs(product), ranks == 1 ? 3 : ranks == 2 ? 6 : 12) << ranks << " ranks";
    }
}

TEST(CheckDataTest, TheDataRepeatsInEveryPeriod) {
  const CheckShape shape{DataType::kBfloat16, ReduceOp::kSum, 3};
  const std::size_t count = 2 * kCheckPeriod + 5;
  EXPECT_EQ(CountWrongOutput(shape, Reduced(shape, count, 1)), 0u);
  Bytes input(count * 2);
  FillInput(shape, Rank{1}, input);
  EXPECT_EQ(CountWrongInput(shape, Rank{1}, input), 0u);
  EXPECT_NE(CountWrongInput(shape, Rank{2}, input), 0u);
}

TEST(CheckDataTest, CountsEveryWrongElement) {
  const CheckShape shape{DataType::kFloat32, ReduceOp::kSum, 4};
  Bytes output = Reduced(shape, 3 * kCheckPeriod, 1);
  for (const std::size_t index : {std::size_t{0}, kCheckPeriod, 3 * kCheckPeriod - 1})
    output[4 * index] ^= std::byte{1};
  EXPECT_EQ(CountWrongOutput(shape, output), 3u);
}

TEST(CheckDataTest, DetectsShiftedData) {
  const CheckShape shape{DataType::kInt32, ReduceOp::kSum, 4};
  const Bytes output = Reduced(shape, 70'000, 1);
  for (const std::size_t shift : {1u, 16u, 1024u, 4096u, 16'384u, 65'536u}) {
    const View moved = View(output).subspan(4 * shift);
    EXPECT_GT(CountWrongOutput(shape, moved), moved.size() / 4 / 2) << "shifted by " << shift;
  }
}

TEST(CheckDataTest, DetectsAMissingOrRepeatedRank) {
  for (const DataType type : kAllTypes)
    for (const ReduceOp op : kAllOps) {
      if (!Reduces(op, type)) continue;
      const CheckShape shape{type, op, 4};
      const std::size_t size = SizeOf(type);
      std::vector<Bytes> inputs(4, Bytes(500 * size));
      for (std::uint32_t rank = 0; rank < 4; ++rank) FillInput(shape, Rank{rank}, inputs[rank]);
      Bytes output(500 * size);
      for (std::size_t i = 0; i < 500; ++i)  // reduces rank 1 twice and omits rank 2
        Fold(shape,
             {inputs[0].data() + i * size, inputs[1].data() + i * size, inputs[1].data() + i * size,
              inputs[3].data() + i * size},
             output.data() + i * size);
      EXPECT_GT(CountWrongOutput(shape, output), 50u) << Name(type) << " " << Name(op);
    }
}

// Builds the expected result of a call from the inputs by hand.
Bytes Part(const CheckShape& shape, Rank rank, std::size_t first, std::size_t count) {
  Bytes input((first + count) * SizeOf(shape.type));
  FillInput(shape, rank, input);
  return {input.begin() + static_cast<std::ptrdiff_t>(first * SizeOf(shape.type)), input.end()};
}

void ExpectExactly(const CheckShape& shape, const collective::Call& call, Bytes output,
                   Rank self = Rank{2}) {
  EXPECT_EQ(CountWrong(shape, call, self, output), 0u) << Name(call.kind);
  output.back() ^= std::byte{1};
  EXPECT_EQ(CountWrong(shape, call, self, output), 1u) << Name(call.kind);
}

TEST(CheckDataTest, ComparesCopiesWithTheirSource) {
  using collective::CallKind;
  constexpr std::size_t kCount = kCheckPeriod + 7;
  const CheckShape shape{DataType::kInt32, ReduceOp::kSum, 3};
  const auto call = [&](CallKind kind, std::uint32_t root = 1) {
    return collective::Call{.kind = kind, .count = kCount, .root = Rank{root}};
  };
  Bytes gathered, exchanged;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const Bytes begin = Part(shape, Rank{rank}, 0, kCount);
    const Bytes block = Part(shape, Rank{rank}, 2 * kCount, kCount);
    gathered.insert(gathered.end(), begin.begin(), begin.end());
    exchanged.insert(exchanged.end(), block.begin(), block.end());
  }
  ExpectExactly(shape, call(CallKind::kBroadcast), Part(shape, Rank{1}, 0, kCount));
  ExpectExactly(shape, call(CallKind::kScatter), Part(shape, Rank{1}, 2 * kCount, kCount));
  ExpectExactly(shape, call(CallKind::kSendReceive), Part(shape, Rank{1}, 0, kCount));
  ExpectExactly(shape, call(CallKind::kAllGather), gathered);
  ExpectExactly(shape, call(CallKind::kGather, 2), gathered);
  ExpectExactly(shape, call(CallKind::kAllToAll), exchanged);
}

TEST(CheckDataTest, ComparesABlockOfAReductionWithThatOfItsRank) {
  constexpr std::size_t kCount = kCheckPeriod - 5;
  const CheckShape shape{DataType::kInt32, ReduceOp::kSum, 3};
  const Bytes whole = Reduced(shape, 3 * kCount, 7);
  const auto block = [&](std::size_t rank) {
    const auto at = whole.begin() + static_cast<std::ptrdiff_t>(rank * kCount * 4);
    return Bytes(at, at + kCount * 4);
  };
  const collective::Call call{.kind = collective::CallKind::kReduceScatter, .count = kCount};
  ExpectExactly(shape, call, block(1), Rank{1});
  EXPECT_GT(CountWrong(shape, call, Rank{1}, block(2)), kCount / 2);
}

}  // namespace
}  // namespace ringlet::cli
