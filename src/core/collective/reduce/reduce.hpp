// Element-wise reductions of blocks of numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/value/bytes.hpp"
#include "ringlet/types.hpp"

namespace ringlet::collective {

/// Size of a block to reduce at a time. Division and copies then find it in the first-level cache.
constexpr std::size_t kReduceBlockBytes = 16 << 10;

struct Reduction {
  DataType type;
  ReduceOp op;
  /// For kAvg, the divisor of the sum: the number of ranks, or 1 if the sum is not complete yet.
  std::uint32_t divisor = 1;
};

/// Detects the processor's features, which takes tens of microseconds on a virtual machine.
/// Otherwise the first reduction of the process does it. Callable from any thread.
void ChooseKernels();

/// Computes out[i] = a[i] op b[i] for every element.
///
/// \param a,b,out  equally many bytes, whole elements. No alignment is needed: they may point into
///                 a link's buffer. `out` may equal `a` or `b`, but not overlap them otherwise.
///
/// The following holds bit for bit on every processor. Only the payload of a NaN and the sign of
/// the maximum or minimum of +0 and -0 are unspecified.
///   integers   sum and prod wrap around, including signed ones (two's complement)
///   float, double  one IEEE 754 operation, rounded to nearest, ties to even
///   half, bfloat16, f8e4m3, f8e5m2  widened to float, one operation, rounded once to nearest, ties
///              to even, subnormals kept. A float has more than twice their digits, so this is the
///              correctly rounded exact result.
///   overflow   half, bfloat16 and f8e5m2 become infinity, as in IEEE 754; loss scaling detects it.
///              f8e4m3 lacks infinity and saturates at 448, like CUDA's conversions.
///   max, min   NaN if either operand is NaN, so that it does not vanish
///   avg        a sum, divided by the divisor (not multiplied by an inverse), which is exact up to
///              2^24. half, bfloat16 and both f8 are divided as floats before the only rounding, so
///              that only an average that is itself too large overflows. Integers are divided
///              towards zero after the sum, which may have wrapped (as in NCCL)
void Reduce(Reduction what, View a, View b, std::span<std::byte> out);

inline constexpr std::size_t kInputsMax = 256;
/// Does the same for several blocks in one pass: ((inputs[0] op inputs[1]) op inputs[2]) ... The
/// half types keep intermediate values as floats and round once, at the end.
///
/// \param inputs  1 to kInputsMax blocks of out.size() bytes each; `out` may be any of them
void ReduceMany(Reduction what, std::span<const std::byte* const> inputs, std::span<std::byte> out);

/// Divides every element by `divisor`, like Reduce, for an average that needs no further addition,
/// such as that of one rank.
///
/// \param divisor  above 0
void Divide(DataType type, std::span<std::byte> elements, std::uint32_t divisor);

}  // namespace ringlet::collective
