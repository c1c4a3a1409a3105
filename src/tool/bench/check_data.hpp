// Data whose reduction is known exactly, in every type and in whatever order ranks are combined.
//
// Inputs are small whole numbers: all partial sums and products stay within what the type holds
// without rounding, so one expected result is right for every algorithm, bit for bit. They repeat
// with a prime period, so that data which has moved by a block is noticed.
#pragma once
#include <cstdint>
#include <span>

#include "base/value/bytes.hpp"
#include "collective/call/call.hpp"
#include "ringlet/types.hpp"

namespace ringlet::cli {

/// The type and the number of ranks of a reduction.
struct CheckShape {
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::uint32_t ranks = 1;
};

/// Elements after which the data repeats. Prime, so that no block of an algorithm is a multiple.
inline constexpr std::size_t kCheckPeriod = 4093;

/// The largest number up to which the type holds all whole numbers.
std::int64_t LargestExact(DataType type);

/// The contribution of `rank` at element `index`.
std::int64_t InputValue(const CheckShape& shape, Rank rank, std::size_t index);

/// Writes the contribution of `rank`. \param out  a whole number of elements
void FillInput(const CheckShape& shape, Rank rank, std::span<std::byte> out);

/// Elements of `output` that are not the reduction of all inputs, compared bit for bit.
/// \param first  the index of its first element in the inputs
std::uint64_t CountWrongOutput(const CheckShape& shape, View output, std::size_t first = 0);

/// Elements of `input` that are not what FillInput wrote for `rank`.
std::uint64_t CountWrongInput(const CheckShape& shape, Rank rank, View input,
                              std::size_t first = 0);

/// Elements of the output that a call left on one rank and that are not what it must give.
/// \param call    as that rank made it; of messages: sent to the next rank, received from the one
///                before
/// \param output  as long as the call's
std::uint64_t CountWrong(const CheckShape& shape, const collective::Call& call, Rank self,
                         View output);

}  // namespace ringlet::cli
