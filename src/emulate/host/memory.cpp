#include "emulate/host/memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace ringlet::cuda {

/// The contents of a handle, in native byte order, because both processes run on one host.
struct IpcWords {
  std::uint64_t mark = 0;
  std::uint64_t device = 0, inode = 0;
  std::uint64_t file_bytes = 0, offset = 0, bytes = 0;
  std::int32_t pid = 0, descriptor = 0;
  std::uint32_t index = 0;  // of the emulated device
  std::uint32_t unused = 0;
};
static_assert(sizeof(IpcWords) == sizeof(IpcHandle));

namespace {

constexpr std::uint64_t kIpcMark = 0x3170'6974'656c'6772;
constexpr std::size_t kHostPageBytes = 4096;

std::uintptr_t AddressOf(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

bool OnDevice(MemoryKind kind) {
  return kind == MemoryKind::kDevice || kind == MemoryKind::kManaged;
}

Status NoBegin(const void* pointer) {
  return Error{Code::kInvalidArgument,
               fmt::format("{} is not the start of memory that this call can free: it was freed "
                           "before, or never allocated",
                           fmt::ptr(pointer))};
}

}  // namespace

Memory::Memory(std::uint32_t devices, std::size_t bytes_each)
    : bytes_each_(bytes_each), pid_(::getpid()), arenas_(devices) {}

Memory::~Memory() {
  for (const auto& [address, block] : blocks_)
    if (block.kind == MemoryKind::kPinned) std::free(block.begin);
}

Result<DeviceMemory*> Memory::Arena(std::uint32_t device) {
  if (::getpid() != pid_)
    return Error{Code::kSystem,
                 "a forked child cannot use device memory: start the child as a new program"};
  if (device >= arenas_.size())
    return Error{Code::kInvalidArgument, fmt::format("device {} does not exist", device)};
  auto& arena = arenas_[device];
  if (!arena) {
    RINGLET_TRY_ASSIGN(DeviceMemory made, DeviceMemory::Create(bytes_each_));
    arena.emplace(std::move(made));
  }
  return &*arena;
}

void Memory::Insert(MemoryBlock block) {
  block.number = ++numbers_;
  blocks_[AddressOf(block.begin)] = block;
}

Result<void*> Memory::AllocateDevice(std::uint32_t device, std::size_t bytes, MemoryKind kind) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  const std::lock_guard lock(mutex_);
  RINGLET_TRY_ASSIGN(DeviceMemory* const arena, Arena(device));
  RINGLET_TRY_ASSIGN(std::byte* const begin, arena->Allocate(bytes));
  Insert({.begin = begin, .bytes = bytes, .kind = kind, .device = device});
  return static_cast<void*>(begin);
}

Status Memory::Free(void* pointer, MemoryKind kind) {
  const std::lock_guard lock(mutex_);
  const auto at = blocks_.find(AddressOf(pointer));
  const bool fits = at != blocks_.end() &&
                    (at->second.kind == kind || (OnDevice(kind) && OnDevice(at->second.kind)));
  if (!fits) return NoBegin(pointer);
  if (OnDevice(kind))
    arenas_[at->second.device]->Free(at->second.begin);
  else if (kind == MemoryKind::kPinned)
    std::free(at->second.begin);
  blocks_.erase(at);
  return Ok();
}

void Memory::FreeAll(std::uint32_t device) {
  const std::lock_guard lock(mutex_);
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    if (!OnDevice(at->second.kind) || at->second.device != device) {
      ++at;
      continue;
    }
    arenas_[device]->Free(at->second.begin);
    at = blocks_.erase(at);
  }
}

Result<void*> Memory::AllocatePinned(std::size_t bytes, unsigned flags) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  void* const begin = bytes > SIZE_MAX - kHostPageBytes
                          ? nullptr
                          : std::aligned_alloc(kHostPageBytes, (bytes + kHostPageBytes - 1) /
                                                                   kHostPageBytes * kHostPageBytes);
  if (begin == nullptr)
    return Error{Code::kSystem, fmt::format("cannot allocate {} bytes of host memory", bytes)};
  const std::lock_guard lock(mutex_);
  Insert({.begin = static_cast<std::byte*>(begin),
          .bytes = bytes,
          .kind = MemoryKind::kPinned,
          .device = 0,
          .flags = flags});
  return begin;
}

Status Memory::Register(void* pointer, std::size_t bytes, MemoryKind kind, unsigned flags,
                        std::uint32_t device) {
  if (pointer == nullptr || bytes == 0)
    return Error{Code::kInvalidArgument, "the memory to register is empty"};
  const std::lock_guard lock(mutex_);
  const auto next = blocks_.lower_bound(AddressOf(pointer));
  const bool overlaps = (next != blocks_.end() && next->first - AddressOf(pointer) < bytes) ||
                        FindLocked(pointer).has_value();
  if (overlaps)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} bytes at {} are already registered or allocated, in part or whole",
                             bytes, fmt::ptr(pointer))};
  Insert({.begin = static_cast<std::byte*>(pointer),
          .bytes = bytes,
          .kind = kind,
          .device = device,
          .flags = flags});
  return Ok();
}

Status Memory::Unregister(void* pointer, MemoryKind kind) {
  const std::lock_guard lock(mutex_);
  const auto at = blocks_.find(AddressOf(pointer));
  if (at == blocks_.end() || at->second.kind != kind) return NoBegin(pointer);
  blocks_.erase(at);
  return Ok();
}

std::optional<MemoryBlock> Memory::FindLocked(const void* pointer) const {
  const auto after = blocks_.upper_bound(AddressOf(pointer));
  if (after == blocks_.begin()) return std::nullopt;
  const MemoryBlock& block = std::prev(after)->second;
  if (AddressOf(pointer) - AddressOf(block.begin) >= block.bytes) return std::nullopt;
  return block;
}

std::optional<MemoryBlock> Memory::Find(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  return FindLocked(pointer);
}

Status Memory::Check(const void* pointer, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  if (const auto block = FindLocked(pointer)) {
    const std::size_t offset = AddressOf(pointer) - AddressOf(block->begin);
    // A program may copy more than it has registered or pinned; the rest is its own memory.
    if (bytes <= block->bytes - offset || !OnDevice(block->kind)) return Ok();
    return Error{Code::kInvalidArgument,
                 fmt::format("{} bytes at {} exceed their memory block, which has {} bytes left",
                             bytes, fmt::ptr(pointer), block->bytes - offset)};
  }
  for (const auto& arena : arenas_)
    if (arena && arena->Contains(pointer))
      return Error{Code::kInvalidArgument,
                   fmt::format("{} is unallocated device memory", fmt::ptr(pointer))};
  return Ok();
}

MemoryInfo Memory::InfoOf(std::uint32_t device) const {
  const std::lock_guard lock(mutex_);
  if (device >= arenas_.size()) return {};
  const auto& arena = arenas_[device];
  return {.free = arena ? arena->free_bytes() : bytes_each_, .total = bytes_each_};
}

Result<IpcHandle> Memory::Export(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const auto block = FindLocked(pointer);
  if (!block || block->kind != MemoryKind::kDevice)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is not memory of cudaMalloc", fmt::ptr(pointer))};
  const os::Shm& shm = arenas_[block->device]->shm();
  RINGLET_TRY_ASSIGN(const auto identity, shm.identity());
  return std::bit_cast<IpcHandle>(
      IpcWords{.mark = kIpcMark,
               .device = identity.device,
               .inode = identity.inode,
               .file_bytes = shm.bytes().size(),
               .offset = static_cast<std::uint64_t>(block->begin - shm.bytes().data()),
               .bytes = block->bytes,
               .pid = pid_,
               .descriptor = shm.fd().get(),
               .index = block->device,
               .unused = 0});
}

Result<Memory::ForeignFile*> Memory::OpenForeign(const IpcWords& words) {
  const FileKey key{words.device, words.inode};
  if (const auto at = files_.find(key); at != files_.end()) return &at->second;
  RINGLET_TRY_ASSIGN(os::Shm shm, os::Shm::MapOf(words.pid, words.descriptor, words.device,
                                                 words.inode, words.file_bytes));
  return &files_.emplace(key, ForeignFile{.shm = std::move(shm), .users = 0}).first->second;
}

Result<void*> Memory::Import(const IpcHandle& handle) {
  const auto words = std::bit_cast<IpcWords>(handle);
  const bool fits = words.mark == kIpcMark && words.bytes > 0 && words.bytes <= words.file_bytes &&
                    words.offset <= words.file_bytes - words.bytes &&
                    words.file_bytes <= static_cast<std::uint64_t>(PTRDIFF_MAX) &&
                    words.index < arenas_.size();
  if (!fits)
    return Error{Code::kInvalidArgument,
                 "the handle is not that of memory that this process can open"};
  if (words.pid == ::getpid())
    return Error{Code::kInvalidArgument,
                 "the memory belongs to this process: only other processes can open the handle"};
  const std::lock_guard lock(mutex_);
  RINGLET_TRY_ASSIGN(ForeignFile* const file, OpenForeign(words));
  std::byte* const begin = file->shm.bytes().data() + words.offset;
  ForeignBlock& foreign = foreign_[AddressOf(begin)];
  if (foreign.users++ == 0) {
    foreign.file = {words.device, words.inode};
    ++file->users;
    Insert({.begin = begin,
            .bytes = words.bytes,
            .kind = MemoryKind::kImported,
            .device = words.index});
  }
  return static_cast<void*>(begin);
}

Status Memory::Close(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto at = foreign_.find(AddressOf(pointer));
  if (at == foreign_.end())
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is not memory of another process", fmt::ptr(pointer))};
  if (--at->second.users > 0) return Ok();
  const auto file = files_.find(at->second.file);
  foreign_.erase(at);
  blocks_.erase(AddressOf(pointer));
  if (--file->second.users == 0) files_.erase(file);
  return Ok();
}

}  // namespace ringlet::cuda
