#include "collective/call/call.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::collective {
namespace {

Error Refused(std::string why) {
  return {.code = Code::kInvalidArgument, .message = std::move(why)};
}

Status CheckBytes(const char* what, std::size_t count, DataType type, std::size_t bytes) {
  if (bytes == count * SizeOf(type)) return Ok();
  return Refused(
      fmt::format("{} elements of {} are not {} bytes of {}", count, Name(type), bytes, what));
}

Status CheckReduction(const Call& call) {
  if (!Reduces(call.op, call.type))
    return Refused(fmt::format("{} of {} does not exist", Name(call.op), Name(call.type)));
  const std::size_t size = SizeOf(call.type);
  if (call.op == ReduceOp::kPreMulSum && !call.scalar_at && call.scalar.given_bytes() != size)
    return Refused(fmt::format("{} needs a scalar of {} bytes, not {}", Name(call.op), size,
                               call.scalar.given_bytes()));
  return Ok();
}

bool Apart(View input, View output) {
  return input.data() + input.size() <= output.data() ||
         output.data() + output.size() <= input.data();
}

bool IsInPlace(const Call& call, Rank self, View input, View output) {
  return output.data() - input.data() ==
         InPlaceOffset(call, self) * static_cast<std::ptrdiff_t>(SizeOf(call.type));
}

/// Returns true for most valid calls, and false for all others. Validate names what is wrong.
bool IsPlainlyValid(const Call& call, CallPlace place) {
  const CallShape& shape = ShapeOf(call.kind);
  if (!FitsMemory(call.count, call.type, place.ranks)) return false;
  if (shape.reduces && (!Reduces(call.op, call.type) || call.op == ReduceOp::kPreMulSum))
    return false;
  const bool rooted = shape.from_root || shape.to_root;
  return (!rooted || Index(call.root) < place.ranks) &&
         call.input.size() == InputBytes(call, place) &&
         call.output.size() == OutputBytes(call, place) &&
         (Apart(call.input, call.output) || IsInPlace(call, place.self, call.input, call.output));
}

}  // namespace

std::optional<CallKind> CallKindNamed(std::string_view name) {
  const auto found = std::ranges::find(kCallShapes, name, &CallShape::name);
  if (found == kCallShapes.end()) return std::nullopt;
  return static_cast<CallKind>(found - kCallShapes.begin());
}

Scalar::Scalar(View element) : given_bytes_(element.size()) {
  std::copy_n(element.begin(), size(), bytes_.begin());
}

std::string ToText(const Call& call) {
  if (static_cast<std::size_t>(call.kind) >= kCallKinds)
    return fmt::format("unknown operation {}", static_cast<unsigned>(call.kind));
  std::string text(Name(call.kind));
  if (call.kind == CallKind::kBarrier || call.kind == CallKind::kAllToAllV) return text;
  text += fmt::format(" of {} {}", call.count, Name(call.type));
  if (Reduces(call.kind)) text += fmt::format(" {}", Name(call.op));
  if (HasRoot(call.kind)) text += fmt::format(" at root {}", Index(call.root));
  if (call.algorithms != 0) text += " by selected algorithms";
  return text;
}

Result<Overlap> OverlapOf(const Call& call, Rank self, View input, View output) {
  if (input.empty() || output.empty() || Apart(input, output)) return Overlap();
  const std::ptrdiff_t offset = InPlaceOffset(call, self);
  if (IsInPlace(call, self, input, output)) return Overlap(offset);
  return Refused(fmt::format(
      "input and output of {} overlap; in place, the output must begin {} elements from the input",
      Name(call.kind), offset));
}

double BusFactor(CallKind kind, std::uint32_t ranks) {
  const std::uint8_t shares = ShapeOf(kind).shares_moved;
  return shares == 0 ? 1 : shares * (ranks - 1.0) / ranks;
}

Error CountTooLarge(std::size_t count) {
  return Refused(fmt::format("a count of {} is larger than any memory", count));
}

Status Validate(const Call& call, CallPlace place) {
  if (call.kind == CallKind::kBarrier) return Ok();
  if (IsPlainlyValid(call, place)) [[likely]]
    return Ok();
  RINGLET_TRY(CheckCount(call.count, call.type, place.ranks));
  if (HasRoot(call.kind) && Index(call.root) >= place.ranks)
    return Refused(fmt::format("root {} of {} is not below the number of ranks, {}",
                               Index(call.root), Name(call.kind), place.ranks));
  if (Reduces(call.kind)) RINGLET_TRY(CheckReduction(call));
  const std::size_t in = InputCount(call, place), out = OutputCount(call, place);
  if (in > 0) RINGLET_TRY(CheckBytes("input", in, call.type, call.input.size()));
  if (out > 0) RINGLET_TRY(CheckBytes("output", out, call.type, call.output.size()));
  RINGLET_TRY(OverlapOf(call, place.self, in > 0 ? call.input : View(),
                        out > 0 ? View(call.output) : View()));
  return Ok();
}

}  // namespace ringlet::collective
