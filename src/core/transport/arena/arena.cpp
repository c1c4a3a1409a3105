#include "transport/arena/arena.hpp"

#include <fmt/format.h>

#include <new>

#include "os/process/remote_fence.hpp"

namespace ringlet::transport {
namespace {

constexpr std::uint64_t kMagic = 0x31414e4552414c52;  // "RLARENA1"
constexpr std::uint32_t kVersion = 8;
constexpr std::size_t kPageBytes = 4096;

constexpr std::size_t Paged(std::size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}
constexpr std::size_t kPostsAt = sizeof(ArenaRank);

constexpr std::size_t kPayloadsAt = kPostsAt + ArenaShape::kPosts * sizeof(ArenaPost);

constexpr std::size_t StagesAt(const ArenaShape& shape) {
  return Paged(kPayloadsAt + shape.PayloadBytes());
}
constexpr std::size_t RankBytes(const ArenaShape& shape) {
  return Paged(StagesAt(shape) + shape.StagesBytes());
}

}  // namespace

bool ArenaShape::Valid() const {
  const auto part = [](std::uint64_t bytes) {
    return bytes >= 64 && bytes <= kPartBytesMax && bytes % 64 == 0;
  };
  return ranks >= 1 && ranks <= kRanksMax && part(slot_bytes) && part(stage_bytes) && stages >= 2 &&
         stages <= kPosts;
}

std::size_t ArenaShape::RankOffset(std::uint32_t rank) const {
  return Paged(sizeof(ArenaHeader)) + rank * RankBytes(*this);
}

Arena::Arena(os::Shm shm, const ArenaShape& shape)
    : shm_(std::move(shm)),
      shape_(shape),
      rank_bytes_(RankBytes(shape)),
      parts_(shm_.bytes().data() + Paged(sizeof(ArenaHeader))) {}

Result<std::shared_ptr<Arena>> Arena::Create(const ArenaShape& shape) {
  RINGLET_ASSERT(shape.Valid());
  RINGLET_TRY_ASSIGN(os::Shm shm, os::Shm::Create(shape.TotalBytes()));
  auto arena = std::shared_ptr<Arena>(new Arena(std::move(shm), shape));
  ArenaHeader& header = *new (arena->shm_.bytes().data()) ArenaHeader;
  header.magic = kMagic;
  header.version = kVersion;
  header.ranks = shape.ranks;
  header.slot_bytes = shape.slot_bytes;
  header.stage_bytes = shape.stage_bytes;
  header.stages = shape.stages;
  return arena;
}

Result<std::shared_ptr<Arena>> Arena::Map(os::Fd received, const ArenaShape& shape) {
  if (!shape.Valid()) return Error{Code::kProtocol, "an arena of an impossible shape"};
  RINGLET_TRY_ASSIGN(os::Shm shm, os::Shm::Map(std::move(received), shape.TotalBytes()));
  return Of(std::move(shm), shape);
}

Result<std::shared_ptr<Arena>> Arena::MapAt(const ArenaPlace& place, const ArenaShape& shape) {
  if (!shape.Valid()) return Error{Code::kProtocol, "an arena of an impossible shape"};
  RINGLET_TRY_ASSIGN(os::Shm shm, os::Shm::MapOf(static_cast<std::int32_t>(place.pid),
                                                 static_cast<std::int32_t>(place.descriptor),
                                                 place.device, place.inode, shape.TotalBytes()));
  return Of(std::move(shm), shape);
}

Result<ArenaPlace> Arena::PlaceIn(std::uint32_t pid) const {
  RINGLET_TRY_ASSIGN(const auto identity, shm_.identity());
  return ArenaPlace{.pid = pid,
                    .descriptor = static_cast<std::uint32_t>(shm_.fd().get()),
                    .device = identity.device,
                    .inode = identity.inode};
}

Result<std::shared_ptr<Arena>> Arena::Of(os::Shm shm, const ArenaShape& shape) {
  auto arena = std::shared_ptr<Arena>(new Arena(std::move(shm), shape));
  const ArenaHeader& header = arena->header();
  const ArenaShape theirs{header.ranks, header.slot_bytes, header.stage_bytes, header.stages};
  if (header.magic != kMagic || header.version != kVersion || theirs != shape)
    return Error{Code::kProtocol,
                 fmt::format("an arena of version {} for {} ranks with parts of {} and {} bytes "
                             "instead of version {} for {} ranks with {} and {}",
                             header.version, theirs.ranks, theirs.slot_bytes, theirs.stage_bytes,
                             kVersion, shape.ranks, shape.slot_bytes, shape.stage_bytes)};
  return arena;
}

std::byte* Arena::payload(std::uint32_t rank, std::size_t offset) const {
  return reinterpret_cast<std::byte*>(&this->rank(rank)) + kPayloadsAt + offset;
}

std::byte* Arena::stage(std::uint32_t rank, std::size_t offset) const {
  return reinterpret_cast<std::byte*>(&this->rank(rank)) + StagesAt(shape_) + offset;
}

void Arena::PrefaultPosts(std::uint32_t rank) const {
  const std::size_t part = shape_.RankOffset(rank);
  shm_.Prefault(0, sizeof(ArenaHeader));
  shm_.Prefault(part, kPayloadsAt);
}

void Arena::PrefaultStages(std::uint32_t rank) const {
  shm_.Prefault(shape_.RankOffset(rank) + StagesAt(shape_), rank_bytes_ - StagesAt(shape_));
}

bool Arena::MayFence() {
  return os::HasJoinedRemoteFences();
}

void Arena::FenceForOthers(std::uint32_t self) const {
  rank(self).fences.store(1, std::memory_order_seq_cst);
}

bool Arena::Fence() {
  return os::RemoteFence();
}

bool Arena::AllFenceForOthers() const {
  for (std::uint32_t one = 0; one < shape_.ranks; ++one)
    if (rank(one).fences.load(std::memory_order_seq_cst) == 0) return false;
  return true;
}

}  // namespace ringlet::transport
