#include "collective/shm/slicing.hpp"

#include <algorithm>

namespace ringlet::collective {
namespace {

constexpr std::size_t kLineBytes = 64;

}  // namespace

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

Slicing SlicingOf(const Call& call, std::uint32_t ranks, std::size_t stage_bytes) {
  Slicing slicing;
  slicing.block_bytes = BlockBytes(call);
  const std::size_t room = PieceEach(call.kind) ? stage_bytes / ranks : stage_bytes;
  const std::size_t whole = (slicing.block_bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  slicing.slice_bytes = std::min(room / kLineBytes * kLineBytes, std::max(whole, kLineBytes));
  RINGLET_ASSERT(slicing.slice_bytes > 0);
  slicing.slices = (slicing.block_bytes + slicing.slice_bytes - 1) / slicing.slice_bytes;
  return slicing;
}

}  // namespace ringlet::collective
