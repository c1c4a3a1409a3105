#include "transport/arena/shared_buffers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace ringlet::transport {
namespace {

constexpr std::uint32_t kSlotBits = 7;
constexpr std::uint32_t kSlotMask = (1u << kSlotBits) - 1;
constexpr std::uint32_t kGenerationMask = (1u << (BufferPlace::kNameBits - kSlotBits)) - 1;
static_assert(ArenaRank::kBuffers < kSlotMask);

bool Holds(const os::Shm& allocation, const std::byte* at, std::size_t bytes) {
  const std::byte* const begin = allocation.bytes().data();
  const std::size_t size = allocation.bytes().size();
  return at >= begin && at <= begin + size && bytes <= size - static_cast<std::size_t>(at - begin);
}

}  // namespace

std::optional<std::uint64_t> BufferPlace::Packed() const {
  if (offset >> kOffsetBits != 0) return std::nullopt;
  return std::uint64_t{name} << kOffsetBits | offset;
}

BufferPlace BufferPlace::Unpack(std::uint64_t packed) {
  return {.name = static_cast<std::uint32_t>(packed >> kOffsetBits) & ((1u << kNameBits) - 1),
          .offset = packed & ((std::uint64_t{1} << kOffsetBits) - 1)};
}

// ---- memory of this rank ------------------------------------------------------------------------

Result<SharedBuffers::Handle> SharedBuffers::Register(View memory,
                                                      std::shared_ptr<const os::Shm> allocation) {
  RINGLET_ASSERT(!allocation || Holds(*allocation, memory.data(), memory.size()));
  const std::lock_guard lock(mutex_);
  for (auto& [handle, other] : registered_) {
    if (other.memory.data() != memory.data() || other.memory.size() != memory.size() ||
        other.allocation != allocation)
      continue;
    ++other.times;
    return handle;
  }
  if (allocation) Use(allocation);
  registered_.emplace(++last_, Registered{memory, std::move(allocation)});
  return last_;
}

Status SharedBuffers::Deregister(Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = registered_.find(handle);
  if (found == registered_.end())
    return Error{
        Code::kInvalidArgument,
        "this handle does not name a registration: it was never registered, or is not any more"};
  if (--found->second.times > 0) return Ok();
  if (found->second.allocation) Release(*found->second.allocation);
  registered_.erase(found);
  return Ok();
}

// If all slots are in use, the allocation stays unpublished, and operations of other ranks copy.
void SharedBuffers::Use(const std::shared_ptr<const os::Shm>& allocation) {
  auto slot = std::ranges::find(slots_, allocation, &RegisteredSlot::allocation);
  if (slot == slots_.end()) slot = std::ranges::find(slots_, nullptr, &RegisteredSlot::allocation);
  if (slot == slots_.end()) return;
  if (slot->uses++ > 0) return;
  slots_used_.fetch_add(1, std::memory_order_relaxed);
  slot->allocation = allocation;
  slot->generation = slot->generation % kGenerationMask + 1;
  Show(static_cast<std::size_t>(slot - slots_.begin()));
}

void SharedBuffers::Release(const os::Shm& allocation) {
  const auto slot = std::ranges::find_if(
      slots_, [&](const RegisteredSlot& one) { return one.allocation.get() == &allocation; });
  if (slot == slots_.end() || --slot->uses > 0) return;
  slots_used_.fetch_sub(1, std::memory_order_relaxed);
  slot->allocation = nullptr;
  Show(static_cast<std::size_t>(slot - slots_.begin()));
}

void SharedBuffers::Show(std::size_t index) {
  if (!arena_) return;
  ArenaBuffer& shown = arena_->rank(self_).buffers[index];
  shown.generation.store(0, std::memory_order_seq_cst);
  const RegisteredSlot& slot = slots_[index];
  if (!slot.allocation) return;
  const auto identity = slot.allocation->identity();
  if (!identity.ok()) return;
  shown.pid = static_cast<std::int32_t>(::getpid());
  shown.descriptor = slot.allocation->fd().get();
  shown.device = identity->device;
  shown.inode = identity->inode;
  shown.bytes = slot.allocation->bytes().size();
  shown.generation.store(slot.generation, std::memory_order_seq_cst);
}

void SharedBuffers::Publish(std::shared_ptr<Arena> arena, std::uint32_t self) {
  const std::lock_guard lock(mutex_);
  RINGLET_ASSERT(!arena_);
  arena_ = std::move(arena);
  self_ = self;
  mapped_.resize(arena_->shape().ranks);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) Show(slot);
}

std::optional<BufferPlace> SharedBuffers::Find(const std::byte* at, std::size_t bytes) const {
  if (slots_used_.load(std::memory_order_relaxed) == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    const RegisteredSlot& slot = slots_[index];
    if (!slot.allocation || !Holds(*slot.allocation, at, bytes)) continue;
    return BufferPlace{.name = (index + 1) | slot.generation << kSlotBits,
                       .offset = static_cast<std::uint64_t>(at - slot.allocation->bytes().data())};
  }
  return std::nullopt;
}

// ---- memory of the peers ------------------------------------------------------------------------

std::byte* SharedBuffers::Reach(std::uint32_t peer, const BufferPlace& place, std::size_t bytes) {
  const std::uint32_t number = place.name & kSlotMask, generation = place.name >> kSlotBits;
  if (number == 0 || number > ArenaRank::kBuffers || generation == 0) return nullptr;
  if (!mapped_[peer]) mapped_[peer] = std::make_unique<MappedOfPeer>();
  Mapped& mapped = (*mapped_[peer])[number - 1];
  if (mapped.generation != generation) {
    mapped.memory.reset();  // its owner has deregistered it
    mapped.memory = Map(peer, number - 1, generation);
    mapped.generation = generation;
  }
  if (!mapped.memory) return nullptr;
  const std::span<std::byte> memory = mapped.memory->bytes();
  if (place.offset > memory.size() || bytes > memory.size() - place.offset) return nullptr;
  return memory.data() + place.offset;
}

std::optional<os::Shm> SharedBuffers::Map(std::uint32_t peer, std::size_t slot,
                                          std::uint32_t generation) const {
  const ArenaBuffer& shown = arena_->rank(peer).buffers[slot];
  if (shown.generation.load(std::memory_order_seq_cst) != generation) return std::nullopt;
  auto mapped = os::Shm::MapOf(shown.pid, shown.descriptor, shown.device, shown.inode, shown.bytes);
  if (!mapped.ok()) return std::nullopt;
  return std::move(mapped).value();
}

void SharedBuffers::SetProcesses(std::vector<os::KnownProcess> processes) {
  processes_.clear();
  for (const os::KnownProcess& process : processes) processes_.push_back({.process = process});
}

bool SharedBuffers::VerifyProcess(std::uint32_t peer) {
  if (peer >= processes_.size()) return false;
  PeerProcess& its = processes_[peer];
  std::byte any{};
  if (!std::exchange(its.is_verified, true) &&
      !os::ReadMemoryOf(its.process, its.process.sign_at, {&any, 1}))
    its.process = {};
  return its.process.pid != 0;
}

bool SharedBuffers::Get(std::uint32_t peer, RemoteAddress address, std::span<std::byte> to) const {
  return peer < processes_.size() && os::ReadMemoryOf(processes_[peer].process, address, to);
}

bool SharedBuffers::Put(std::uint32_t peer, RemoteAddress address, View from) const {
  return peer < processes_.size() && os::WriteMemoryOf(processes_[peer].process, address, from);
}

}  // namespace ringlet::transport
