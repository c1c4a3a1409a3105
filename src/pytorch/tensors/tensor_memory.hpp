// Memory for tensors that the other ranks of the host can reach: collectives do not copy it.
#pragma once
#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "comm/run/communicator.hpp"
#include "pytorch/tensors/process.hpp"

namespace ringlet::torch_api {

class Announcements;

/// The allocations of this process. Any thread may call all functions.
///
/// Each is a sealed anonymous file with a descriptor, as from ncclMemAlloc. Freed memory is kept
/// for the next allocation of its size, because new pages are slow to fill and map.
class TensorMemory {
 public:
  static constexpr std::size_t kKeptMax = 16;                           // allocations
  static constexpr std::size_t kKeptBytesMax = std::size_t{512} << 20;  // total

  /// The instance of the process; a child of fork starts with a new one. Never destroyed: tensors
  /// may outlive main's statics.
  static TensorMemory& The();

  /// Allocates at least `bytes` at a page boundary, uninitialised. Costs up to 3 us per page if no
  /// kept memory fits. Errors  as RegisteredHeap::Allocate, and SharedProcess
  Result<std::byte*> Allocate(std::size_t bytes);
  /// Frees memory from Allocate. \pre  no operation uses it. Has no effect in a child of fork,
  ///                                   because the memory belongs to the parent.
  void Free(const std::byte* memory);

  /// True if an allocation contains all of `memory`.
  bool Has(View memory) const;
  /// Bytes of all allocations, including kept ones.
  std::size_t bytes() const;
  /// Returns kept memory to the system.
  void Trim();
  /// Number of freed allocations that are kept for the next of their size.
  std::size_t kept() const;

 private:
  friend class Announcements;
  struct Allocation {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    std::shared_ptr<comm::Process> process;
  };

  /// Takes a kept allocation; null if none has that size.
  std::byte* TakeKept(std::size_t bytes, const comm::Process& process);
  /// Returns the end if no allocation contains all of it.
  std::map<const std::byte*, Allocation>::const_iterator Find(View memory) const;
  void Drop(const std::byte* begin);
  void DropOldest();
  void KeepOrDrop(const std::byte* begin);

  std::atomic<std::size_t> count_{0};  // lets threads without allocations skip the lock
  mutable std::mutex mutex_;           // guards the fields below, and `known_` of Announcements
  std::map<const std::byte*, Allocation> allocations_;  // by address, including kept ones
  std::deque<const std::byte*> kept_;                   // oldest first
  std::size_t kept_bytes_ = 0;
  std::set<Announcements*> announcements_;
};

/// The allocations that are registered with a communicator. Ends before the communicator does.
class Announcements {
 public:
  Announcements();
  ~Announcements();
  Announcements(const Announcements&) = delete;
  Announcements& operator=(const Announcements&) = delete;

  /// Registers the allocation of `memory` with the communicator, which is the same in all calls,
  /// unless it is registered already. If that fails, operations copy, as with any memory.
  void EnsureRegistered(comm::Communicator& communicator, View memory);

 private:
  friend class TensorMemory;
  void Withdraw(const std::byte* begin);

  comm::Communicator* communicator_ = nullptr;
  std::map<const std::byte*, std::uint64_t> known_;  // registrations
};

}  // namespace ringlet::torch_api
