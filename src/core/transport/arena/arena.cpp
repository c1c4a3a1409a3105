#include "transport/arena/arena.hpp"

#include <fmt/format.h>

#include <new>

#include "os/process/remote_fence.hpp"

namespace ringlet::transport {
namespace {

constexpr std::uint64_t kMagic = 0x31414e4552414c52;  // "RLARENA1"
constexpr std::uint32_t kVersion = 9;

constexpr std::size_t Paged(std::size_t bytes) {
  return (bytes + kArenaPageBytes - 1) / kArenaPageBytes * kArenaPageBytes;
}
constexpr std::size_t kPostsAt = Paged(sizeof(ArenaHeader));

constexpr std::size_t DataBytes(const ArenaShape& shape) {
  return Paged(shape.PayloadBytes()) + Paged(shape.StagesBytes());
}

}  // namespace

bool ArenaShape::Valid() const {
  const auto part = [](std::uint64_t bytes) {
    return bytes >= 64 && bytes <= kPartBytesMax && bytes % 64 == 0;
  };
  return ranks >= 1 && ranks <= kRanksMax && part(slot_bytes) && part(stage_bytes) && stages >= 2 &&
         stages <= kPosts;
}

std::size_t ArenaShape::DataOffset(std::uint32_t rank) const {
  return kPostsAt + ranks * kArenaPostsBytes + rank * DataBytes(*this);
}

Arena::Arena(os::Shm shm, const ArenaShape& shape)
    : shm_(std::move(shm)),
      shape_(shape),
      posts_(shm_.bytes().data() + kPostsAt),
      data_(shm_.bytes().data() + shape.DataOffset(0)),
      data_bytes_(DataBytes(shape)) {}

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
  return data_ + rank * data_bytes_ + offset;
}

std::byte* Arena::stage(std::uint32_t rank, std::size_t offset) const {
  return payload(rank, Paged(shape_.PayloadBytes()) + offset);
}

void Arena::PrefaultPosts(std::uint32_t rank) const {
  shm_.Prefault(0, sizeof(ArenaHeader));
  shm_.Prefault(kPostsAt + rank * kArenaPostsBytes, kArenaPostsBytes);
}

void Arena::PrefaultStages(std::uint32_t rank) const {
  shm_.Prefault(shape_.DataOffset(rank) + Paged(shape_.PayloadBytes()),
                Paged(shape_.StagesBytes()));
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
