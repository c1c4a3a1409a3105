// Memory for users' buffers that other processes of the host can map: what ncclMemAlloc gives.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/value/bytes.hpp"
#include "os/fs/shm.hpp"

namespace ringlet::comm {

/// One per process. Safe from any thread. Each allocation is a sealed anonymous file of its own: a
/// descriptor, and nothing that outlives the process.
class RegisteredHeap {
 public:
  /// `bytes` of memory, zero, on a page boundary, all of it there (in huge pages where the system
  /// gives them): costs up to 3 us a page.
  /// Errors  kInvalidArgument  0 bytes; kSystem  not that much memory, or no descriptors left
  Result<std::byte*> Allocate(std::size_t bytes);

  /// Gives it back to the system, also where peers still have it mapped: they read zeros. If it is
  /// registered, its addresses stay taken until the last registration ends, so that none of them
  /// is found for memory that came later.
  /// \param gone  called before an address can be another's, once the memory is no longer found
  /// Errors  kInvalidArgument  it is not the beginning of what Allocate gave, or freed already
  Status Free(const void* memory, const std::function<void()>& gone = {});

  /// The allocation that all of `memory` lies in; null: none does.
  std::shared_ptr<const os::Shm> Find(View memory) const;

 private:
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::shared_ptr<const os::Shm>> allocations_;  // by their beginning
};

}  // namespace ringlet::comm
