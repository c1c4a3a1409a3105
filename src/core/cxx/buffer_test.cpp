#include "ringlet/buffer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

struct OwnHalf {
  std::uint16_t bits;
};
template <>
struct ringlet::DataTypeOf<OwnHalf> : ringlet::DataTypeIs<ringlet::DataType::kFloat16> {};

namespace ringlet::cxx {
namespace {

TEST(Buffer, ConvertsFromVectorsArraysAndSpans) {
  std::vector<float> vector(3);
  std::array<double, 4> array{};
  std::int64_t plain[5] = {};
  const SendBuffer of_vector = vector, of_array = array, of_plain = plain;
  EXPECT_EQ(of_vector.data(), vector.data());
  EXPECT_EQ(of_vector.count(), 3u);
  EXPECT_EQ(of_vector.type(), DataType::kFloat32);
  EXPECT_EQ(of_array.count(), 4u);
  EXPECT_EQ(of_array.type(), DataType::kFloat64);
  EXPECT_EQ(of_plain.count(), 5u);
  EXPECT_EQ(of_plain.type(), DataType::kInt64);
  const ReceiveBuffer part = std::span(vector).subspan(1);
  EXPECT_EQ(part.data(), vector.data() + 1);
  EXPECT_EQ(part.count(), 2u);
  const SendBuffer constant = std::span<const float>(vector);
  EXPECT_EQ(constant.count(), 3u);
}

TEST(Buffer, IsConstructedFromAPointerACountAndAType) {
  std::uint16_t halves[8] = {};
  const ReceiveBuffer buffer(halves, 8, DataType::kBfloat16);
  EXPECT_EQ(buffer.data(), halves);
  EXPECT_EQ(buffer.count(), 8u);
  EXPECT_EQ(buffer.type(), DataType::kBfloat16);
}

TEST(Buffer, IsEmptyByDefault) {
  EXPECT_EQ(SendBuffer().count(), 0u);
  EXPECT_EQ(ReceiveBuffer().data(), nullptr);
}

TEST(Buffer, AcceptsTypesOfTheProgram) {
  const std::vector<OwnHalf> halves(2);
  EXPECT_EQ(SendBuffer(halves).type(), DataType::kFloat16);
}

TEST(Buffer, MapsEachTypeByItsSizeAndSign) {
  EXPECT_EQ(DataTypeOf<bool>::value, DataType::kBool);
  EXPECT_EQ(DataTypeOf<std::byte>::value, DataType::kUint8);
  EXPECT_EQ(DataTypeOf<std::int8_t>::value, DataType::kInt8);
  EXPECT_EQ(DataTypeOf<std::uint8_t>::value, DataType::kUint8);
  EXPECT_EQ(DataTypeOf<std::int16_t>::value, DataType::kInt16);
  EXPECT_EQ(DataTypeOf<std::int32_t>::value, DataType::kInt32);
  EXPECT_EQ(DataTypeOf<std::uint32_t>::value, DataType::kUint32);
  EXPECT_EQ(DataTypeOf<std::uint64_t>::value, DataType::kUint64);
  EXPECT_EQ(DataTypeOf<long long>::value, DataType::kInt64);
  EXPECT_EQ(DataTypeOf<unsigned long long>::value, DataType::kUint64);
}

template <typename To, typename From>
constexpr bool kConverts = std::is_convertible_v<From, To>;

TEST(Buffer, RefusesConstantTemporaryAndUnsupportedTypes) {
  static_assert(kConverts<SendBuffer, const std::vector<float>&>);
  static_assert(kConverts<ReceiveBuffer, std::vector<float>&>);
  static_assert(kConverts<ReceiveBuffer, std::span<float>>);
  static_assert(!kConverts<ReceiveBuffer, const std::vector<float>&>, "constant");
  static_assert(!kConverts<ReceiveBuffer, std::span<const float>>, "constant");
  static_assert(!kConverts<ReceiveBuffer, std::vector<float>>, "the result would be lost");
  static_assert(!kConverts<SendBuffer, std::vector<bool>&>, "not contiguous");
  static_assert(!kConverts<SendBuffer, std::string&>, "char has no sign that all agree on");
  static_assert(!kConverts<SendBuffer, std::vector<std::uint16_t>&>, "no such type");
  static_assert(!kConverts<SendBuffer, float>);
}

}  // namespace
}  // namespace ringlet::cxx
