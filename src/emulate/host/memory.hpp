// All memory that CUDA's functions hand out or are told of.
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
  kRegistered,  ///< cudaHostRegister: the program's own
  kImported,    ///< of another process
  kOfNccl,      ///< ncclMemAlloc
  kVariable,    ///< a __device__ variable's place in the program
};

struct MemoryBlock {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  std::uint32_t device = 0;
  unsigned flags = 0;
  std::uint64_t number = 0;  ///< no two blocks of a process have the same
};

/// CUDA's handle for memory of another process: opaque bytes that travel by any means.
using IpcHandle = std::array<std::byte, 64>;

struct MemoryInfo {
  std::size_t free = 0, total = 0;
};

/// All methods from any thread.
class RINGLET_API Memory {
 public:
  Memory(std::uint32_t devices, std::size_t bytes_each);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Errors  kSystem  the device has not that much left, or the process was forked since
  Result<void*> AllocateDevice(std::uint32_t device, std::size_t bytes,
                               MemoryKind kind = MemoryKind::kDevice);
  /// \param kind  kDevice also frees managed memory
  /// Errors  kInvalidArgument  `pointer` is not the begin of such a block
  Status Free(void* pointer, MemoryKind kind);
  /// All blocks that were allocated on the device.
  void FreeAll(std::uint32_t device);

  /// Page-aligned memory of the host.
  Result<void*> AllocatePinned(std::size_t bytes, unsigned flags);
  /// Errors  kInvalidArgument  empty, or overlaps a block
  Status Register(void* pointer, std::size_t bytes, MemoryKind kind, unsigned flags,
                  std::uint32_t device = 0);
  /// Errors  kInvalidArgument  `pointer` is not the begin of a block of this kind
  Status Unregister(void* pointer, MemoryKind kind = MemoryKind::kRegistered);

  /// The block with `pointer` in it.
  std::optional<MemoryBlock> Find(const void* pointer) const;

  /// Whether [pointer, pointer + bytes) may be read or written: it lies in one block, or outside of
  /// all device memory, where the host's own memory is. Errors  kInvalidArgument  it is device
  /// memory that is not allocated, or ends behind its block
  Status Check(const void* pointer, std::size_t bytes) const;

  MemoryInfo InfoOf(std::uint32_t device) const;

  /// A handle by which another process of this host and user opens the block with `pointer` in it.
  /// Errors  kInvalidArgument  not memory of cudaMalloc
  Result<IpcHandle> Export(const void* pointer) const;
  /// The begin of the block in this process. Each Import needs a Close.
  /// Errors  kInvalidArgument  no handle of Export, or of this very process
  ///         kSystem, kProtocol  the process is gone, or of another user or host
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
