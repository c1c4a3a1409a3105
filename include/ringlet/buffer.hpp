// Views of the memory that an operation reads or writes: address, element count and element type.
// std::vector, std::array, C arrays and std::span convert to a view. Compiles as C++17.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "ringlet/types.hpp"

namespace ringlet {

template <DataType kType>
struct DataTypeIs {
  static constexpr DataType value = kType;
};

/// Maps a C++ element type to its DataType. Specialise it for your own types, such as a 16-bit
/// float:
///   template <> struct ringlet::DataTypeOf<my::half> : DataTypeIs<DataType::kFloat16> {};
/// `char` is not mapped, because its sign differs among processors: use std::byte or std::int8_t.
template <typename T>
struct DataTypeOf {};
template <>
struct DataTypeOf<bool> : DataTypeIs<DataType::kBool> {};
template <>
struct DataTypeOf<std::byte> : DataTypeIs<DataType::kUint8> {};
template <>
struct DataTypeOf<signed char> : DataTypeIs<DataType::kInt8> {};
template <>
struct DataTypeOf<unsigned char> : DataTypeIs<DataType::kUint8> {};
template <>
struct DataTypeOf<short> : DataTypeIs<DataType::kInt16> {};
template <>
struct DataTypeOf<int> : DataTypeIs<DataType::kInt32> {};
template <>
struct DataTypeOf<unsigned> : DataTypeIs<DataType::kUint32> {};
template <>
struct DataTypeOf<long> : DataTypeIs<DataType::kInt64> {};
template <>
struct DataTypeOf<unsigned long> : DataTypeIs<DataType::kUint64> {};
template <>
struct DataTypeOf<long long> : DataTypeIs<DataType::kInt64> {};
template <>
struct DataTypeOf<unsigned long long> : DataTypeIs<DataType::kUint64> {};
template <>
struct DataTypeOf<float> : DataTypeIs<DataType::kFloat32> {};
template <>
struct DataTypeOf<double> : DataTypeIs<DataType::kFloat64> {};
static_assert(sizeof(long) == sizeof(std::int64_t) && sizeof(int) == sizeof(std::int32_t) &&
              sizeof(short) == sizeof(std::int16_t));

/// The element type of the memory of `Range`; const if the memory is read-only.
template <typename Range>
using ElementOf = std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>;
template <typename Range>
using DataTypeOfRange = DataTypeOf<std::remove_cv_t<ElementOf<Range>>>;

/// A view of the memory that an operation reads. The caller owns the memory and leaves it unchanged
/// until the call (or the Group's End) has returned.
class SendBuffer {
 public:
  /// An empty view, for a rank that sends no data, such as a rank other than the root of a scatter.
  constexpr SendBuffer() = default;
  /// Views the elements of a contiguous range: std::vector, std::array, std::span, T[n].
  template <typename Range, DataType kType = DataTypeOfRange<const Range>::value>
  constexpr SendBuffer(const Range& range)  // NOLINT(google-explicit-constructor)
      : data_(std::data(range)), count_(std::size(range)), type_(kType) {}
  /// \param data  `count` contiguous elements of `type`; may be null if `count` is 0
  constexpr SendBuffer(const void* data, std::size_t count, DataType type)
      : data_(data), count_(count), type_(type) {}

  constexpr const void* data() const { return data_; }
  constexpr std::size_t count() const { return count_; }  ///< number of elements
  constexpr DataType type() const { return type_; }

 private:
  const void* data_ = nullptr;
  std::size_t count_ = 0;
  DataType type_ = DataType::kUint8;
};

/// A view of the memory that an operation writes. Ownership is as for SendBuffer. A container must
/// be an lvalue, because the result in a temporary would be lost.
class ReceiveBuffer {
 public:
  /// An empty view, for ranks that receive no data, such as all but the root of a reduce.
  constexpr ReceiveBuffer() = default;
  template <typename Range, DataType kType = DataTypeOfRange<Range>::value,
            typename = std::enable_if_t<!std::is_const_v<ElementOf<Range>>>>
  constexpr ReceiveBuffer(Range& range)  // NOLINT(google-explicit-constructor)
      : data_(std::data(range)), count_(std::size(range)), type_(kType) {}
  /// A view may be an rvalue, such as std::span(data).first(10).
  template <typename View, DataType kType = DataTypeOfRange<const View>::value,
            typename = std::enable_if_t<!std::is_const_v<ElementOf<const View>>>>
  constexpr ReceiveBuffer(const View& view)  // NOLINT(google-explicit-constructor)
      : data_(std::data(view)), count_(std::size(view)), type_(kType) {}
  /// \param data  room for `count` elements of `type`; may be null if `count` is 0
  constexpr ReceiveBuffer(void* data, std::size_t count, DataType type)
      : data_(data), count_(count), type_(type) {}

  constexpr void* data() const { return data_; }
  constexpr std::size_t count() const { return count_; }  ///< number of elements
  constexpr DataType type() const { return type_; }

 private:
  void* data_ = nullptr;
  std::size_t count_ = 0;
  DataType type_ = DataType::kUint8;
};

}  // namespace ringlet
