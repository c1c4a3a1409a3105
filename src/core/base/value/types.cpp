#include "ringlet/types.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ringlet {
namespace {

constexpr std::array<std::string_view, kDataTypes> kDataTypeNames = {
    "int8",  "uint8",  "int32",    "uint32", "int64",  "uint64", "half",
    "float", "double", "bfloat16", "f8e4m3", "f8e5m2", "bool",   "int16"};
constexpr std::array<std::string_view, kReduceOps> kReduceOpNames = {
    "sum", "prod", "max", "min", "avg", "premulsum", "band", "bor", "bxor"};

constexpr std::pair<std::string_view, DataType> kAliases[] = {{"i8", DataType::kInt8},
                                                              {"char", DataType::kInt8},
                                                              {"u8", DataType::kUint8},
                                                              {"i16", DataType::kInt16},
                                                              {"i32", DataType::kInt32},
                                                              {"int", DataType::kInt32},
                                                              {"u32", DataType::kUint32},
                                                              {"i64", DataType::kInt64},
                                                              {"u64", DataType::kUint64},
                                                              {"f16", DataType::kFloat16},
                                                              {"fp16", DataType::kFloat16},
                                                              {"float16", DataType::kFloat16},
                                                              {"f32", DataType::kFloat32},
                                                              {"fp32", DataType::kFloat32},
                                                              {"float32", DataType::kFloat32},
                                                              {"f64", DataType::kFloat64},
                                                              {"fp64", DataType::kFloat64},
                                                              {"float64", DataType::kFloat64},
                                                              {"bf16", DataType::kBfloat16},
                                                              {"fp8", DataType::kFloat8e4m3},
                                                              {"fp8_e4m3", DataType::kFloat8e4m3},
                                                              {"fp8_e5m2", DataType::kFloat8e5m2},
                                                              {"e4m3", DataType::kFloat8e4m3},
                                                              {"e5m2", DataType::kFloat8e5m2}};

}  // namespace

std::string_view Name(DataType type) {
  return kDataTypeNames[static_cast<std::size_t>(type)];
}
std::string_view Name(ReduceOp op) {
  return kReduceOpNames[static_cast<std::size_t>(op)];
}

std::optional<DataType> DataTypeNamed(std::string_view name) {
  if (const auto at = std::ranges::find(kDataTypeNames, name); at != kDataTypeNames.end())
    return static_cast<DataType>(at - kDataTypeNames.begin());
  for (const auto& [alias, type] : kAliases)
    if (alias == name) return type;
  return std::nullopt;
}

std::optional<ReduceOp> ReduceOpNamed(std::string_view name) {
  const auto at = std::ranges::find(kReduceOpNames, name);
  if (at == kReduceOpNames.end()) return std::nullopt;
  return static_cast<ReduceOp>(at - kReduceOpNames.begin());
}

}  // namespace ringlet
