// Memory of RegisteredHeap that another process of this host maps for any length of time.
//
// Collectives map and unmap memory themselves (transport::SharedBuffers). This is for users that
// access the memory of peers directly.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/value/bytes.hpp"
#include "comm/process/process.hpp"
#include "os/fs/shm.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

/// The location of memory that a process offers to others, and the process itself. For the others
/// it is external input.
struct MemoryLabel {
  static constexpr std::size_t kBytes = 64;  ///< of its form on the wire

  std::uint64_t host = 0;  ///< Process::host_hash
  std::uint32_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< of the process; 0: unknown
  std::uint32_t descriptor = 0;
  std::uint64_t device = 0, inode = 0;  ///< of the allocation
  std::uint64_t allocation_bytes = 0;
  std::uint64_t offset = 0;  ///< of the memory in its allocation, bytes
  std::uint64_t bytes = 0;

  Bytes Encode() const;
  /// Errors  kProtocol  not of that size
  static Result<MemoryLabel> Decode(View bytes);
};

/// Returns the label of this process's memory. Errors  kInvalidArgument  not in an allocation of
/// the process's heap; kSystem  its descriptor is closed
Result<MemoryLabel> LabelOf(Process& process, View memory);

/// Returns true if the process of the label has ended. Valid for processes of this host only.
/// Cost  reads a file of /proc
bool HasEnded(const Process& process, const MemoryLabel& label);

/// Memory of another process, or of this one, mapped into this process.
class MappedMemory {
 public:
  /// Errors  kInvalidArgument  another host; kSystem  the process ended, or has another user or PID
  ///                           namespace; kProtocol  the memory does not match the label
  static Result<MappedMemory> Map(const Process& process, const MemoryLabel& label);

  /// Returns the memory of the label.
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  MappedMemory(os::Shm whole, std::span<std::byte> bytes)
      : whole_(std::move(whole)), bytes_(bytes) {}

  os::Shm whole_;
  std::span<std::byte> bytes_;
};

}  // namespace ringlet::comm
