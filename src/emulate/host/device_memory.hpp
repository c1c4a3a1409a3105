// The memory of one emulated device: shared memory, handed out in whole pages up to a limit.
#pragma once
#include <cstddef>
#include <map>
#include <memory>

#include "os/fs/shm.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cuda {

/// Not safe for several threads at once: Memory has the lock.
///
/// It is one anonymous file, so that another process can map it (see Memory::Export). A page takes
/// memory of the computer when it is touched, and gives it back when it is freed.
class DeviceMemory {
 public:
  /// Blocks begin at multiples of this, and take multiples of it. CUDA promises 256.
  static constexpr std::size_t kPageBytes = 4096;

  /// Errors  kSystem  no address space or descriptor is left
  static Result<DeviceMemory> Create(std::size_t bytes);

  /// Zero-filled. The lowest place that is large enough.
  /// Errors  kSystem  no place is left that large; the sentence says how much is free
  Result<std::byte*> Allocate(std::size_t bytes);
  /// \param block  from Allocate, and not freed since
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
