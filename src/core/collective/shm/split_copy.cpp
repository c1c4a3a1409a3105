#include "collective/shm/split_copy.hpp"

#include <algorithm>

#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

// Each piece costs a system call, so pieces are large. Large blocks have 16 of them, so that both
// ranks end at nearly the same time.
constexpr std::size_t kPieceBytesMin = 64 << 10;
constexpr std::size_t kPiecesWanted = 16;

// ArenaRank::split holds the operation, the pieces taken from the start, and those from the end.
constexpr std::uint64_t kFront = std::uint64_t{1} << 16, kBack = 1, kCountMask = 0xffff;
constexpr int kOperationShift = 32;

std::uint64_t FrontOf(std::uint64_t split) {
  return split >> 16 & kCountMask;
}
std::uint64_t BackOf(std::uint64_t split) {
  return split & kCountMask;
}

}  // namespace

SplitCopy::SplitCopy(transport::ArenaRank& receiver, std::uint64_t sequence, std::size_t bytes)
    : receiver_(&receiver),
      operation_(sequence << kOperationShift),
      bytes_(bytes),
      piece_bytes_(std::max(kPieceBytesMin, bytes / kPiecesWanted / 4096 * 4096)),
      pieces_((bytes + piece_bytes_ - 1) / piece_bytes_) {
  RINGLET_ASSERT(pieces_ > 0 && pieces_ <= kCountMask);
}

void SplitCopy::Open() {
  receiver_->split.store(operation_, std::memory_order_seq_cst);
}

std::optional<Piece> SplitCopy::Take(bool front) {
  std::uint64_t split = receiver_->split.load(std::memory_order_seq_cst);
  do {
    const bool open = split >> kOperationShift == operation_ >> kOperationShift;
    if (!open || FrontOf(split) + BackOf(split) >= pieces_) return std::nullopt;
  } while (!receiver_->split.compare_exchange_weak(split, split + (front ? kFront : kBack),
                                                   std::memory_order_seq_cst));
  const std::uint64_t index = front ? FrontOf(split) : pieces_ - 1 - BackOf(split);
  const std::size_t begin = static_cast<std::size_t>(index) * piece_bytes_;
  return Piece{begin, std::min(piece_bytes_, bytes_ - begin)};
}

void SplitCopy::Deliver() {
  const std::uint64_t before = receiver_->delivered.load(std::memory_order_relaxed);
  const bool first = before >> kOperationShift != operation_ >> kOperationShift;
  receiver_->delivered.store((first ? operation_ : before) + 1, std::memory_order_seq_cst);
}

bool SplitCopy::delivered() const {
  const std::uint64_t taken = BackOf(receiver_->split.load(std::memory_order_seq_cst));
  return taken == 0 || receiver_->delivered.load(std::memory_order_seq_cst) == operation_ + taken;
}

}  // namespace ringlet::collective
