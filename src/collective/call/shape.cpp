#include "collective/call/shape.hpp"

#include <fmt/format.h>

namespace ringlet::collective {

std::ptrdiff_t InPlaceOffset(const CallShape& shape) {
  const auto own = static_cast<std::ptrdiff_t>(shape.count * Index(shape.self));
  switch (shape.kind) {
    case CallKind::kAllGather:
    case CallKind::kGather: return -own;
    case CallKind::kReduceScatter:
    case CallKind::kScatter: return own;
    default: return 0;
  }
}

Result<Overlap> OverlapOf(const CallShape& shape, std::size_t element_bytes, View input,
                          View output) {
  if (input.empty() || output.empty() || input.data() + input.size() <= output.data() ||
      output.data() + output.size() <= input.data())
    return Overlap();
  const std::ptrdiff_t offset = InPlaceOffset(shape);
  if (output.data() - input.data() == offset * static_cast<std::ptrdiff_t>(element_bytes))
    return Overlap(offset);
  return Error{Code::kInvalidArgument,
               fmt::format("input and output of {} overlap, and the output does not begin {} "
                           "elements from the input, as in place it does",
                           Name(shape.kind), offset)};
}

}  // namespace ringlet::collective
