// The words of the public interface: ranks, element types, reductions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ringlet/export.hpp"

namespace ringlet {

/// A member's number in its communicator, 0 to world size - 1.
enum class Rank : std::uint32_t {};

constexpr std::uint32_t Index(Rank rank) {
  return static_cast<std::uint32_t>(rank);
}

/// Element types. The numbers up to kFloat8e5m2 are NCCL's (spec 5.2), so that they cross the C API
/// unchanged; the two after them are Ringlet's own and do not exist there.
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
  kBool = 12,  ///< a byte, 0 or 1: sum and max are "or", prod and min are "and"
  kInt16 = 13,
};
inline constexpr std::size_t kDataTypes = 14;
inline constexpr std::size_t kNcclDataTypes = 12;

/// Reductions. The numbers up to kAvg are NCCL's; the others do not cross the C API as numbers.
enum class ReduceOp : std::uint8_t {
  kSum = 0,
  kProd = 1,
  kMax = 2,
  kMin = 3,
  kAvg = 4,        ///< the sum divided by the number of ranks, once, at the end
  kPreMulSum = 5,  ///< each rank's elements times a scalar of its own, then the sum
  kBand = 6,       ///< bit by bit; of integers and bool
  kBor = 7,
  kBxor = 8,
};
inline constexpr std::size_t kReduceOps = 9;
inline constexpr std::size_t kNcclReduceOps = 5;

/// Whether the reduction exists for the type: bit operations want integers or bool, and bool has
/// neither an average nor a multiple.
constexpr bool Reduces(ReduceOp op, DataType type) {
  const bool is_float = type >= DataType::kFloat16 && type <= DataType::kFloat8e5m2;
  if (op >= ReduceOp::kBand) return !is_float;
  return type != DataType::kBool || (op != ReduceOp::kAvg && op != ReduceOp::kPreMulSum);
}

/// Bytes of one element.
constexpr std::size_t SizeOf(DataType type) {
  constexpr std::uint8_t kBytes[kDataTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1, 1, 2};
  return kBytes[static_cast<std::size_t>(type)];
}

/// NCCL's short names: "int8", "uint8", "int32", ..., "half", "float", "double", "bfloat16",
/// "f8e4m3", "f8e5m2", and "bool", "int16". Static storage.
RINGLET_API std::string_view Name(DataType type);
/// "sum", "prod", "max", "min", "avg", "premulsum", "band", "bor", "bxor".
RINGLET_API std::string_view Name(ReduceOp op);

/// The inverse of Name; also takes "f32", "fp32", "float32", "bf16", "f16", "i64", "u8" and their
/// kin. Empty for anything else.
RINGLET_API std::optional<DataType> DataTypeNamed(std::string_view name);
RINGLET_API std::optional<ReduceOp> ReduceOpNamed(std::string_view name);

}  // namespace ringlet
