// Element-wise reductions: what happens to two blocks of numbers when they meet on a rank.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/value/bytes.hpp"
#include "ringlet/types.hpp"

namespace ringlet::collective {

/// Reduced at a time: what is then divided or copied is still in the first-level cache.
constexpr std::size_t kReduceBlockBytes = 16 << 10;

struct Reduction {
  DataType type;
  ReduceOp op;
  /// Of kAvg: by which the sum is divided, the number of ranks; 1: it is not whole yet.
  std::uint32_t divisor = 1;
};

/// Finds out what the processor can do, which takes tens of microseconds on a virtual machine; else
/// the first reduction of the process does. Any thread.
void ChooseKernels();

/// out[i] = a[i] op b[i] for every element.
///
/// \param a,b,out  the same number of bytes, a whole number of elements. No alignment is needed:
///                 they may point into a link's buffer. `out` may be `a` or `b`, and may not
///                 overlap them otherwise.
///
/// How each operation rounds. All that follows holds bit for bit on every processor, except that
/// the payload of a NaN and the sign of the greater or smaller of +0 and -0 are left open.
///   integers   sum and prod wrap around, signed ones too (two's complement)
///   float, double  one IEEE 754 operation, rounded to nearest, ties to even
///   half, bfloat16, f8e4m3, f8e5m2  widened to float, one operation, rounded once to nearest, ties
///              to even, subnormals kept. A float holds more than twice their digits, so this is
///              the exact result correctly rounded.
///   overflow   half, bfloat16 and f8e5m2 become infinity, as IEEE 754 wants it: scaling of losses
///              watches for it. f8e4m3 has none and saturates at 448, as CUDA's conversions do.
///   max, min   NaN if either operand is NaN: it would otherwise vanish on the way
///   avg        a sum, divided by the divisor (not multiplied by an inverse), which is exact up to
///              2^24. half, bfloat16 and both f8 are divided as floats, before the one rounding, so
///              that only an average that is itself too large overflows. Integers are divided
///              towards zero, after their sum may have wrapped (as NCCL does)
void Reduce(Reduction what, View a, View b, std::span<std::byte> out);

/// The same of several blocks in one pass: ((inputs[0] op inputs[1]) op inputs[2]) ..., of which
/// the half types keep the intermediate values as floats and round once, at the end.
///
/// \param inputs  1 to kInputsMax blocks of out.size() bytes each; `out` may be any of them
inline constexpr std::size_t kInputsMax = 64;
void ReduceMany(Reduction what, std::span<const std::byte* const> inputs, std::span<std::byte> out);

/// Copies past the caches: for data that are not read soon, and more than the caches hold. Saves
/// the read that a store to a line not in the cache costs. No overlap.
void StreamCopy(View from, std::byte* to);

/// Divides every element by `divisor`, as Reduce does: of an average that is not added up any more,
/// such as that of one rank.
///
/// \param divisor  above 0
void Divide(DataType type, std::span<std::byte> elements, std::uint32_t divisor);

}  // namespace ringlet::collective
