// Memory of RegisteredHeap that another process of this host maps for as long as it likes.
//
// Collectives map what they need by themselves (transport::SharedBuffers) and let go of it again;
// this is for users who hold the memory of peers in their hands.
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

/// The place of memory that a process offers to others, and which process that is. Outside input
/// for those.
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

/// The label of memory of this process. Errors  kInvalidArgument  it does not lie in an allocation
/// of the process's heap; kSystem  its descriptor is gone
Result<MemoryLabel> LabelOf(Process& process, View memory);

/// Whether the process of the label has ended. Only about processes of this host.
/// Cost  a file of /proc is read
bool HasEnded(const Process& process, const MemoryLabel& label);

/// Memory of another process, or of this one, in the addresses of this one.
class MappedMemory {
 public:
  /// Errors  kInvalidArgument  it is on another host; kSystem  its process is gone, of another user
  ///         or in another PID namespace; kProtocol  it is not what the label says
  static Result<MappedMemory> Map(const Process& process, const MemoryLabel& label);

  /// The memory of the label.
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  MappedMemory(os::Shm whole, std::span<std::byte> bytes)
      : whole_(std::move(whole)), bytes_(bytes) {}

  os::Shm whole_;
  std::span<std::byte> bytes_;
};

}  // namespace ringlet::comm
