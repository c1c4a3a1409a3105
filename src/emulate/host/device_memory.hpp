// The memory of one emulated device: shared memory, allocated in whole pages up to a limit.
#pragma once
#include <cstddef>
#include <map>
#include <memory>

#include "os/fs/shm.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cuda {

/// This class is not thread-safe: Memory has the lock.
///
/// The memory is one anonymous file, so that another process can map it (see Memory::Export). A
/// page occupies physical memory from its first access until it is freed.
class DeviceMemory {
 public:
  /// Alignment and granularity of blocks. CUDA guarantees an alignment of 256 bytes.
  static constexpr std::size_t kPageBytes = 4096;

  /// Errors  kSystem  no address space or descriptor is left
  static Result<DeviceMemory> Create(std::size_t bytes);

  /// Allocates zero-filled memory at the lowest offset with enough space.
  /// Errors  kSystem  no gap is large enough; the message contains the free bytes
  Result<std::byte*> Allocate(std::size_t bytes);
  /// \param block  from Allocate, not yet freed
  void Free(std::byte* block);

  std::size_t bytes() const { return shm_->bytes().size(); }
  std::size_t free_bytes() const { return free_bytes_; }
  bool Contains(const void* pointer) const;
  const os::Shm& shm() const { return *shm_; }

 private:
  explicit DeviceMemory(os::Shm shm);

  std::unique_ptr<os::Shm> shm_;
  std::map<std::size_t, std::size_t> free_;   // offset: bytes
  std::map<std::size_t, std::size_t> taken_;  // offset: bytes
  std::size_t free_bytes_;
};

}  // namespace ringlet::cuda
