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

/// Element types. The numbers are NCCL's (spec 5.2), so that they cross the C API unchanged.
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
};
inline constexpr std::size_t kDataTypes = 12;

/// Reductions. The numbers are NCCL's.
enum class ReduceOp : std::uint8_t { kSum = 0, kProd = 1, kMax = 2, kMin = 3, kAvg = 4 };
inline constexpr std::size_t kReduceOps = 5;

/// Bytes of one element.
constexpr std::size_t SizeOf(DataType type) {
  constexpr std::uint8_t kBytes[kDataTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kBytes[static_cast<std::size_t>(type)];
}

/// NCCL's short names: "int8", "uint8", "int32", ..., "half", "float", "double", "bfloat16",
/// "f8e4m3", "f8e5m2". Static storage.
RINGLET_API std::string_view Name(DataType type);
/// "sum", "prod", "max", "min", "avg".
RINGLET_API std::string_view Name(ReduceOp op);

/// The inverse of Name; also takes "f32", "fp32", "float32", "bf16", "f16", "i64", "u8" and their
/// kin. Empty for anything else.
RINGLET_API std::optional<DataType> DataTypeNamed(std::string_view name);
RINGLET_API std::optional<ReduceOp> ReduceOpNamed(std::string_view name);

}  // namespace ringlet
