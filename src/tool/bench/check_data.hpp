// Test data with an exactly known reduction, in every type and for every order of ranks.
//
// Inputs are small whole numbers. All partial sums and products fit the type without rounding, so
// one expected result is right for every algorithm, bit for bit. The data repeats with a prime
// period, so that a shift by one block is detected.
#pragma once
#include <cstdint>
#include <span>

#include "base/value/bytes.hpp"
#include "collective/call/call.hpp"
#include "ringlet/types.hpp"

namespace ringlet::cli {

/// The type, the operation and the number of ranks of a reduction.
struct CheckShape {
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::uint32_t ranks = 1;
};

/// Period of the data in elements. It is prime, so that no block is a multiple of it.
inline constexpr std::size_t kCheckPeriod = 4093;

/// Returns the largest number N such that the type holds all whole numbers from 0 to N.
std::int64_t LargestExact(DataType type);

/// Returns the contribution of `rank` at element `index`.
std::int64_t InputValue(const CheckShape& shape, Rank rank, std::size_t index);

/// Writes the contribution of `rank`. \param out  holds a whole number of elements
void FillInput(const CheckShape& shape, Rank rank, std::span<std::byte> out);

/// Counts the elements of `output` that differ bit for bit from the reduction of all inputs.
/// \param first  the index in the inputs of the first element of `output`
std::uint64_t CountWrongOutput(const CheckShape& shape, View output, std::size_t first = 0);

/// Counts the elements of `input` that differ from the data that FillInput writes for `rank`.
std::uint64_t CountWrongInput(const CheckShape& shape, Rank rank, View input,
                              std::size_t first = 0);

/// Counts the wrong elements in the output that `call` left on rank `self`.
/// \param call    as that rank made it; a send and receive sends to the next rank and receives from
///                the previous one
/// \param output  as long as the output of `call`
std::uint64_t CountWrong(const CheckShape& shape, const collective::Call& call, Rank self,
                         View output);

}  // namespace ringlet::cli
