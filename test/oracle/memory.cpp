#include "memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "verdicts.hpp"

namespace oracle {
namespace {

constexpr std::size_t kAlign = 64;
constexpr std::size_t kHugePage = 2 << 20;
constexpr std::size_t kKeptMax = 8 << 20;        // larger blocks are not kept for the next step
constexpr std::size_t kStaticBytes = 128 << 10;  // per rank
constexpr int kStaticRanks = 16;
constexpr std::uintptr_t kFixedBase = 0x2000'0000'0000;  // no other mapping is there
constexpr std::uintptr_t kFixedStride = std::uintptr_t{1} << 35;

alignas(kAlign) std::byte static_data[kStaticRanks][kStaticBytes];

std::size_t RoundUp(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

std::byte* Mapped(std::size_t bytes, int flags, int descriptor = -1, void* at = nullptr) {
  void* memory = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

std::byte* FromFile(std::size_t bytes) {
  char name[] = "/tmp/oracle-XXXXXX";
  const int descriptor = mkstemp(name);
  if (descriptor < 0) throw std::bad_alloc();
  unlink(name);
  const bool sized = ftruncate(descriptor, static_cast<off_t>(bytes)) == 0;
  std::byte* memory = nullptr;
  if (sized) memory = Mapped(bytes, MAP_SHARED, descriptor);
  close(descriptor);
  if (!sized) throw std::bad_alloc();
  return memory;
}

std::byte* Huge(std::size_t bytes) {
  const std::size_t whole = RoundUp(bytes, kHugePage);
  void* memory = std::aligned_alloc(kHugePage, whole);
  if (!memory) throw std::bad_alloc();
  madvise(memory, whole, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

std::byte* FromNccl(std::size_t bytes) {
  void* memory = nullptr;
  Must(ncclMemAlloc(&memory, bytes), "ncclMemAlloc");
  if (!memory) throw Failure("ncclMemAlloc returned success and a null pointer");
  return static_cast<std::byte*>(memory);
}

bool OfNccl(Memory kind) {
  return kind == Memory::kNccl || kind == Memory::kRegistered || kind == Memory::kWindow;
}

bool OfHeap(Memory kind) {
  return kind == Memory::kMalloc || kind == Memory::kHuge;
}

bool InPlaceOfOthers(Memory kind) {
  return kind == Memory::kStack || kind == Memory::kStatic;
}

}  // namespace

Heap::~Heap() {
  for (Block& block : blocks_) Free(block);
}

std::byte* Heap::FromFixed(std::size_t bytes) {
  const std::uintptr_t at =
      kFixedBase + static_cast<std::uintptr_t>(slot_) * kFixedStride + fixed_used_;
  fixed_used_ += RoundUp(bytes, kHugePage);
  return Mapped(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                reinterpret_cast<void*>(at));  // NOLINT
}

std::byte* Heap::Allocate(Memory kind, std::size_t bytes) {
  switch (kind) {
    case Memory::kHuge: return Huge(bytes);
    case Memory::kFile: return FromFile(bytes);
    case Memory::kShared: return Mapped(bytes, MAP_SHARED | MAP_ANONYMOUS);
    case Memory::kFixed: return FromFixed(bytes);
    case Memory::kMmap:
    case Memory::kRegisteredOther: return Mapped(bytes, MAP_PRIVATE | MAP_ANONYMOUS);
    case Memory::kNccl:
    case Memory::kRegistered:
    case Memory::kWindow: return FromNccl(bytes);
    default: {
      void* memory = std::aligned_alloc(kAlign, RoundUp(bytes, kAlign));
      if (!memory) throw std::bad_alloc();
      return static_cast<std::byte*>(memory);
    }
  }
}

void Heap::Free(Block& block) {
  if (!block.data) return;
  if (OfNccl(block.kind)) {
    ncclMemFree(block.data);
  } else if (OfHeap(block.kind)) {
    std::free(block.data);
  } else {
    munmap(block.data, block.bytes);
  }
  block.data = nullptr;
}

Heap::Block& Heap::Find(Memory kind, std::size_t bytes) {
  for (Block& block : blocks_) {
    if (block.taken || block.kind != kind || block.bytes < bytes) continue;
    block.taken = true;
    return block;
  }
  const std::size_t room = OfHeap(kind) ? bytes : RoundUp(bytes, 64 << 10);
  blocks_.push_back({.kind = kind, .data = Allocate(kind, room), .bytes = room});
  return blocks_.back();
}

std::byte* Heap::Take(Memory kind, std::size_t bytes, ncclComm_t comm) {
  bytes = RoundUp(std::max<std::size_t>(bytes, 1), kAlign);
  if (kind == Memory::kStack && stack_used_ + bytes <= stack_.size()) {
    stack_used_ += bytes;
    return stack_.data() + stack_used_ - bytes;
  }
  if (kind == Memory::kStatic && slot_ < kStaticRanks && static_used_ + bytes <= kStaticBytes) {
    static_used_ += bytes;
    return static_data[slot_] + static_used_ - bytes;
  }
  if (InPlaceOfOthers(kind)) kind = Memory::kMalloc;
  Block& block = Find(kind, bytes);
  if (kind == Memory::kRegistered || kind == Memory::kRegisteredOther) {
    if (!block.handles.count(comm))
      Must(ncclCommRegister(comm, block.data, block.bytes, &block.handles[comm]),
           "ncclCommRegister");
  } else if (kind == Memory::kWindow) {
    Must(ncclCommWindowRegister(comm, block.data, block.bytes, &block.window,
                                NCCL_WIN_COLL_SYMMETRIC),
         "ncclCommWindowRegister");
    block.window_comm = comm;
  }
  return block.data;
}

void Heap::Release() {
  stack_used_ = static_used_ = 0;
  for (Block& block : blocks_) {
    block.taken = false;
    if (!block.window_comm) continue;
    Must(ncclCommWindowDeregister(block.window_comm, block.window), "ncclCommWindowDeregister");
    block.window_comm = nullptr;
  }
  std::erase_if(blocks_, [&](Block& block) {
    if (!block.handles.empty() || (!OfHeap(block.kind) && block.bytes <= kKeptMax)) return false;
    Free(block);
    return true;
  });
}

void Heap::Forget(ncclComm_t comm, bool deregister) {
  for (Block& block : blocks_) {
    const auto found = block.handles.find(comm);
    if (found == block.handles.end()) continue;
    if (deregister) Must(ncclCommDeregister(comm, found->second), "ncclCommDeregister");
    block.handles.erase(found);
  }
}

}  // namespace oracle
