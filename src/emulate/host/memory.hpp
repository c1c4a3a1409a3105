// All memory that CUDA's functions allocate or register.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "emulate/host/device_memory.hpp"
#include "ringlet/export.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cuda {

/// The origin of a block.
enum class MemoryKind : std::uint8_t {
  kDevice,
  kManaged,
  kPinned,      ///< cudaHostAlloc
  kRegistered,  ///< cudaHostRegister: owned by the program
  kImported,    ///< from another process
  kOfNccl,      ///< ncclMemAlloc
  kVariable,    ///< storage of a __device__ variable
};

struct MemoryBlock {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  std::uint32_t device = 0;
  unsigned flags = 0;
  std::uint64_t number = 0;  ///< unique in the process
};

/// CUDA's handle for memory of another process: opaque bytes, transported by any means.
using IpcHandle = std::array<std::byte, 64>;

struct MemoryInfo {
  std::size_t free = 0, total = 0;
};

/// Any thread may call all methods.
class RINGLET_API Memory {
 public:
  Memory(std::uint32_t devices, std::size_t bytes_each);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Errors  kSystem  the device has too little memory left, or the process was forked
  Result<void*> AllocateDevice(std::uint32_t device, std::size_t bytes,
                               MemoryKind kind = MemoryKind::kDevice);
  /// \param kind  kDevice also frees managed memory
  /// Errors  kInvalidArgument  `pointer` is not the beginning of such a block
  Status Free(void* pointer, MemoryKind kind);
  /// Frees all blocks of the device.
  void FreeAll(std::uint32_t device);

  /// Allocates page-aligned host memory.
  Result<void*> AllocatePinned(std::size_t bytes, unsigned flags);
  /// Errors  kInvalidArgument  the range is empty or overlaps a block
  Status Register(void* pointer, std::size_t bytes, MemoryKind kind, unsigned flags,
                  std::uint32_t device = 0);
  /// Errors  kInvalidArgument  `pointer` is not the beginning of a block of this kind
  Status Unregister(void* pointer, MemoryKind kind = MemoryKind::kRegistered);

  /// Returns the block that contains `pointer`.
  std::optional<MemoryBlock> Find(const void* pointer) const;

  /// Checks that [pointer, pointer + bytes) is accessible: inside one block, or outside all device
  /// memory, where the host's own memory is. Errors  kInvalidArgument  it is unallocated device
  /// memory, or extends beyond its block
  Status Check(const void* pointer, std::size_t bytes) const;

  MemoryInfo InfoOf(std::uint32_t device) const;

  /// Returns a handle to open the block of `pointer` in another process of this host and user.
  /// Errors  kInvalidArgument  the memory is not from cudaMalloc
  Result<IpcHandle> Export(const void* pointer) const;
  /// Returns the beginning of the block in this process. Each Import needs a Close.
  /// Errors  kInvalidArgument  the handle is not from Export, or is from this process
  ///         kSystem, kProtocol  the process has exited, or belongs to another user or host
  Result<void*> Import(const IpcHandle& handle);
  Status Close(void* pointer);

 private:
  struct ForeignFile {
    os::Shm shm;
    std::size_t users = 0;
  };
  using FileKey = std::pair<std::uint64_t, std::uint64_t>;  // device and inode
  struct ForeignBlock {
    FileKey file;
    std::size_t users = 0;
  };

  Result<DeviceMemory*> Arena(std::uint32_t device);
  Result<ForeignFile*> OpenForeign(const struct IpcWords& words);
  void Insert(MemoryBlock block);
  std::optional<MemoryBlock> FindLocked(const void* pointer) const;

  const std::size_t bytes_each_;
  const int pid_;
  mutable std::mutex mutex_;
  std::vector<std::optional<DeviceMemory>> arenas_;
  std::map<std::uintptr_t, MemoryBlock> blocks_;  // by begin
  std::map<FileKey, ForeignFile> files_;
  std::map<std::uintptr_t, ForeignBlock> foreign_;  // by begin
  std::uint64_t numbers_ = 0;
};

}  // namespace ringlet::cuda
