#include "comm/process/parts/registered_heap.hpp"

#include <iterator>
#include <utility>

namespace ringlet::comm {

Result<std::byte*> RegisteredHeap::Allocate(std::size_t bytes) {
  RINGLET_TRY_ASSIGN(os::Shm memory, os::Shm::Create(bytes));
  RINGLET_TRY(memory.Fill());
  const auto allocation = std::make_shared<const os::Shm>(std::move(memory));
  std::byte* const begin = allocation->bytes().data();
  const std::lock_guard lock(mutex_);
  allocations_.emplace(begin, allocation);
  return begin;
}

Status RegisteredHeap::Free(const void* memory, const std::function<void()>& gone) {
  std::shared_ptr<const os::Shm> allocation;  // each registration holds it, too
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(static_cast<const std::byte*>(memory));
    if (found == allocations_.end())
      return Error{
          Code::kInvalidArgument,
          "this is not the beginning of memory from ncclMemAlloc, or the memory was freed already"};
    allocation = std::move(found->second);
    allocations_.erase(found);
  }
  if (gone) gone();
  allocation->Discard();
  return Ok();
}

std::shared_ptr<const os::Shm> RegisteredHeap::Find(View memory) const {
  const std::lock_guard lock(mutex_);
  auto after = allocations_.upper_bound(memory.data());
  if (after == allocations_.begin()) return nullptr;
  const auto& allocation = std::prev(after)->second;
  const std::span<std::byte> bytes = allocation->bytes();
  const auto offset = static_cast<std::size_t>(memory.data() - bytes.data());
  if (offset > bytes.size() || memory.size() > bytes.size() - offset) return nullptr;
  return allocation;
}

}  // namespace ringlet::comm
