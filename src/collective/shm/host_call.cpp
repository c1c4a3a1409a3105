#include "collective/shm/host_call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collective/call/shape.hpp"

namespace ringlet::collective {
namespace {

constexpr std::size_t kLineBytes = 64;

}  // namespace

std::string ToText(const HostCall& call) {
  if (static_cast<std::size_t>(call.operation) >= kCallKinds)
    return fmt::format("unknown operation {}", static_cast<unsigned>(call.operation));
  std::string text(Name(call.operation));
  if (call.operation == CallKind::kBarrier || call.operation == CallKind::kAllToAllV) return text;
  text += fmt::format(" of {} {}", call.count, Name(call.type));
  if (Reduces(call.operation)) text += fmt::format(" {}", Name(call.op));
  if (HasRoot(call.operation)) text += fmt::format(" at root {}", Index(call.root));
  return text;
}

HostSizes SizesOf(const HostCall& call, std::uint32_t self, std::uint32_t ranks) {
  const CallShape shape{.kind = call.operation,
                        .count = static_cast<std::size_t>(call.count),
                        .root = call.root,
                        .self = Rank{self},
                        .ranks = ranks};
  const std::size_t element = SizeOf(call.type);
  return {InputCount(shape) * element, OutputCount(shape) * element};
}

Piece ShareOf(std::size_t bytes, std::uint32_t who, std::uint32_t ranks) {
  const std::size_t lines = (bytes + kLineBytes - 1) / kLineBytes;
  const auto bound = [&](std::uint32_t rank) {
    return std::min(bytes, lines * rank / ranks * kLineBytes);
  };
  return {bound(who), bound(who + 1) - bound(who)};
}

Piece Slicing::At(std::uint64_t slice) const {
  const std::size_t begin = static_cast<std::size_t>(slice) * slice_bytes;
  return {begin, std::min(slice_bytes, block_bytes - begin)};
}

Slicing SlicingOf(const HostCall& call, std::uint32_t ranks, std::size_t stage_bytes) {
  Slicing slicing;
  slicing.block_bytes = BlockBytes(call);
  const std::size_t room = PieceEach(call.operation) ? stage_bytes / ranks : stage_bytes;
  slicing.slice_bytes = room / kLineBytes * kLineBytes;
  RINGLET_ASSERT(slicing.slice_bytes > 0);
  slicing.slices = (slicing.block_bytes + slicing.slice_bytes - 1) / slicing.slice_bytes;
  return slicing;
}

}  // namespace ringlet::collective
