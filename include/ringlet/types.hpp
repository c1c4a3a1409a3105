// Basic types of the public interface: ranks, element types, reductions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ringlet/export.hpp"

namespace ringlet {

/// A member's number in its communicator, 0 to size - 1.
enum class Rank : std::uint32_t {};

constexpr std::uint32_t Index(Rank rank) {
  return static_cast<std::uint32_t>(rank);
}

/// Element types. The numbers up to kFloat8e5m2 are NCCL's (spec 5.2), so the C API passes them
/// unchanged. kBool and kInt16 are Ringlet's own and do not exist in NCCL.
enum class DataType : std::uint8_t {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9,
  kFloat8e4m3 = 10,
  kFloat8e5m2 = 11,
  kBool = 12,  ///< one byte, 0 or 1: sum and max are "or", prod and min are "and"
  kInt16 = 13,
};
inline constexpr std::size_t kDataTypes = 14;
inline constexpr std::size_t kNcclDataTypes = 12;

/// Reductions. The numbers up to kAvg are NCCL's. The C API does not pass the others as numbers.
enum class ReduceOp : std::uint8_t {
  kSum = 0,
  kProd = 1,
  kMax = 2,
  kMin = 3,
  kAvg = 4,        ///< sum divided by the number of ranks, once, at the end
  kPreMulSum = 5,  ///< sum of each rank's elements times that rank's scalar
  kBand = 6,       ///< bitwise, as kBor and kBxor; integers and bool only
  kBor = 7,
  kBxor = 8,
};
inline constexpr std::size_t kReduceOps = 9;
inline constexpr std::size_t kNcclReduceOps = 5;

/// Returns true if the reduction exists for the type. Bitwise operations require integers or bool;
/// bool supports neither kAvg nor kPreMulSum.
constexpr bool Reduces(ReduceOp op, DataType type) {
  const bool is_float = type >= DataType::kFloat16 && type <= DataType::kFloat8e5m2;
  if (op >= ReduceOp::kBand) return !is_float;
  return type != DataType::kBool || (op != ReduceOp::kAvg && op != ReduceOp::kPreMulSum);
}

/// Bytes per element.
constexpr std::size_t SizeOf(DataType type) {
  constexpr std::uint8_t kBytes[kDataTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1, 1, 2};
  return kBytes[static_cast<std::size_t>(type)];
}

/// NCCL's short names: "int8", "uint8", "int32", ..., "half", "float", "double", "bfloat16",
/// "f8e4m3", "f8e5m2", and "bool", "int16". Static storage.
RINGLET_API std::string_view Name(DataType type);
/// "sum", "prod", "max", "min", "avg", "premulsum", "band", "bor", "bxor".
RINGLET_API std::string_view Name(ReduceOp op);

/// The inverse of Name. Accepts aliases such as "f32", "fp32", "float32", "bf16", "f16", "i64" and
/// "u8" too. Empty for any other text.
RINGLET_API std::optional<DataType> DataTypeNamed(std::string_view name);
RINGLET_API std::optional<ReduceOp> ReduceOpNamed(std::string_view name);

}  // namespace ringlet
