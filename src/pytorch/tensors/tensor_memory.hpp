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

/// The allocations of this process. Safe from any thread.
///
/// Each is a sealed anonymous file, with a descriptor, as ncclMemAlloc gives them. Freed memory is
/// kept for the next of its size, since both to fill new pages and to have peers map them is slow.
class TensorMemory {
 public:
  static constexpr std::size_t kKeptMax = 16;                           // allocations
  static constexpr std::size_t kKeptBytesMax = std::size_t{512} << 20;  // of all of them together

  /// The one of the process; the child of a fork begins with one of its own. Never destroyed:
  /// tensors may outlive main's statics.
  static TensorMemory& The();

  /// At least `bytes`, on a page boundary, of whatever content. Costs up to 3 us a page where
  /// nothing kept fits. Errors  as RegisteredHeap::Allocate, and SharedProcess
  Result<std::byte*> Allocate(std::size_t bytes);
  /// The memory that Allocate gave. No operation uses it any more. In the child of a fork: nothing,
  /// the memory is the parent's.
  void Free(const std::byte* memory);

  /// Whether all of `memory` lies in an allocation.
  bool Has(View memory) const;
  /// Of all allocations, kept ones too.
  std::size_t bytes() const;
  /// Gives back to the system what is kept.
  void Trim();
  /// Freed allocations that wait for the next of their size.
  std::size_t kept() const;

 private:
  friend class Announcements;
  struct Allocation {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    std::shared_ptr<comm::Process> process;
  };

  /// One of those that are kept; null: none of that size.
  std::byte* TakeKept(std::size_t bytes, const comm::Process& process);
  /// The end: none has all of it.
  std::map<const std::byte*, Allocation>::const_iterator Find(View memory) const;
  void Drop(const std::byte* begin);
  void DropOldest();
  void KeepOrDrop(const std::byte* begin);

  std::atomic<std::size_t> count_{0};  // so that those without any do not take the lock
  mutable std::mutex mutex_;           // of all below, and of what Announcements know
  std::map<const std::byte*, Allocation> allocations_;  // by their beginning, kept ones too
  std::deque<const std::byte*> kept_;                   // oldest first
  std::size_t kept_bytes_ = 0;
  std::set<Announcements*> announcements_;
};

/// Which allocations a communicator has been told of. Ends before the communicator does.
class Announcements {
 public:
  Announcements();
  ~Announcements();
  Announcements(const Announcements&) = delete;
  Announcements& operator=(const Announcements&) = delete;

  /// Tells the communicator, always the same, of the allocation that `memory` lies in, if it does
  /// not know it. If it cannot take it, operations copy, as they do with any memory.
  void Cover(comm::Communicator& communicator, View memory);

 private:
  friend class TensorMemory;
  void Withdraw(const std::byte* begin);

  comm::Communicator* communicator_ = nullptr;
  std::map<const std::byte*, std::uint64_t> known_;  // registrations
};

}  // namespace ringlet::torch_api
