#include "ringlet/types.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ringlet {
namespace {

TEST(Types, HaveTheNumbersAndNamesOfNccl) {
  constexpr std::string_view kNames[] = {"int8",   "uint8",  "int32", "uint32", "int64",
                                         "uint64", "half",   "float", "double", "bfloat16",
                                         "f8e4m3", "f8e5m2", "bool",  "int16"};
  static_assert(std::size(kNames) == kDataTypes);
  for (std::size_t i = 0; i < kDataTypes; ++i) EXPECT_EQ(Name(static_cast<DataType>(i)), kNames[i]);
  constexpr std::string_view kOps[] = {"sum",       "prod", "max", "min", "avg",
                                       "premulsum", "band", "bor", "bxor"};
  static_assert(std::size(kOps) == kReduceOps);
  for (std::size_t i = 0; i < kReduceOps; ++i) EXPECT_EQ(Name(static_cast<ReduceOp>(i)), kOps[i]);
}

TEST(Types, HaveTheSizesOfTheirValues) {
  constexpr std::size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1, 1, 2};
  for (std::size_t i = 0; i < kDataTypes; ++i)
    EXPECT_EQ(SizeOf(static_cast<DataType>(i)), kBytes[i]);
}

TEST(Types, SomeTypesLackSomeReductions) {
  EXPECT_TRUE(Reduces(ReduceOp::kBxor, DataType::kInt16));
  EXPECT_TRUE(Reduces(ReduceOp::kBand, DataType::kBool));
  EXPECT_TRUE(Reduces(ReduceOp::kAvg, DataType::kFloat8e5m2));
  EXPECT_TRUE(Reduces(ReduceOp::kSum, DataType::kBool));
  EXPECT_FALSE(Reduces(ReduceOp::kBor, DataType::kFloat16));
  EXPECT_FALSE(Reduces(ReduceOp::kBor, DataType::kFloat8e5m2));
  EXPECT_FALSE(Reduces(ReduceOp::kAvg, DataType::kBool));
  EXPECT_FALSE(Reduces(ReduceOp::kPreMulSum, DataType::kBool));
}

TEST(Types, ParseTheirOwnNames) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kDataTypes; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(DataTypeNamed(Name(type)), type);
    EXPECT_TRUE(names.insert(Name(type)).second) << Name(type);
  }
  for (std::size_t i = 0; i < kReduceOps; ++i)
    EXPECT_EQ(ReduceOpNamed(Name(static_cast<ReduceOp>(i))), static_cast<ReduceOp>(i));
}

TEST(Types, ParseCommonAliases) {
  EXPECT_EQ(DataTypeNamed("f32"), DataType::kFloat32);
  EXPECT_EQ(DataTypeNamed("float32"), DataType::kFloat32);
  EXPECT_EQ(DataTypeNamed("bf16"), DataType::kBfloat16);
  EXPECT_EQ(DataTypeNamed("fp16"), DataType::kFloat16);
  EXPECT_EQ(DataTypeNamed("float64"), DataType::kFloat64);
  EXPECT_EQ(DataTypeNamed("i64"), DataType::kInt64);
  EXPECT_EQ(DataTypeNamed("u8"), DataType::kUint8);
  EXPECT_EQ(DataTypeNamed("e5m2"), DataType::kFloat8e5m2);
}

TEST(Types, RefuseUnknownNames) {
  for (const std::string_view word : {"", "Float", "float ", "sum", "float128"})
    EXPECT_EQ(DataTypeNamed(word), std::nullopt) << word;
  for (const std::string_view word : {"", "SUM", "float", "average"})
    EXPECT_EQ(ReduceOpNamed(word), std::nullopt) << word;
}

}  // namespace
}  // namespace ringlet
