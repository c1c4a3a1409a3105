#include "emulate/host/device_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace ringlet::cuda {

DeviceMemory::DeviceMemory(os::Shm shm)
    : shm_(std::make_unique<os::Shm>(std::move(shm))), free_bytes_(shm_->bytes().size()) {
  free_[0] = free_bytes_;
}

Result<DeviceMemory> DeviceMemory::Create(std::size_t bytes) {
  RINGLET_TRY_ASSIGN(os::Shm shm, os::Shm::Create(bytes / kPageBytes * kPageBytes));
  return DeviceMemory(std::move(shm));
}

Result<std::byte*> DeviceMemory::Allocate(std::size_t bytes) {
  const auto place = std::ranges::find_if(free_, [&](const auto& one) {
    return bytes <= one.second && (bytes + kPageBytes - 1) / kPageBytes * kPageBytes <= one.second;
  });
  if (place == free_.end())
    return Error{Code::kSystem, fmt::format("cannot allocate {} bytes of device memory; {} of {} "
                                            "are free: see ringlet emulate --memory",
                                            bytes, free_bytes_, this->bytes())};
  const std::size_t taken = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const auto [offset, size] = *place;
  free_.erase(place);
  if (size > taken) free_[offset + taken] = size - taken;
  taken_[offset] = taken;
  free_bytes_ -= taken;
  return shm_->bytes().data() + offset;
}

void DeviceMemory::Free(std::byte* block) {
  auto offset = static_cast<std::size_t>(block - shm_->bytes().data());
  const auto at = taken_.find(offset);
  RINGLET_ASSERT(at != taken_.end());
  std::size_t size = at->second;
  taken_.erase(at);
  free_bytes_ += size;
  // Later reads give zeros. If the kernel refuses, the pages stay and only cost memory.
  ::madvise(block, size, MADV_REMOVE);
  const auto next = free_.upper_bound(offset);
  if (next != free_.end() && next->first == offset + size) {
    size += next->second;
    free_.erase(next);
  }
  const auto after = free_.upper_bound(offset);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  free_[offset] = size;
}

bool DeviceMemory::Contains(const void* pointer) const {
  const auto* const at = static_cast<const std::byte*>(pointer);
  const std::less<> before;
  return !before(at, shm_->bytes().data()) && before(at, shm_->bytes().data() + bytes());
}

}  // namespace ringlet::cuda
