// The memory of ncclMemAlloc: buffers of users that other processes of the host can map.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/value/bytes.hpp"
#include "os/fs/shm.hpp"

namespace ringlet::comm {

/// Each process has one. Any thread. Each allocation is its own sealed anonymous file: it takes a
/// descriptor and does not outlive the process.
class RegisteredHeap {
 public:
  /// Returns `bytes` of zeroed memory on a page boundary. All pages are present, in huge pages if
  /// the system provides them. Costs up to 3 us a page.
  /// Errors  kInvalidArgument  0 bytes; kSystem  not that much memory, or no descriptors left
  Result<std::byte*> Allocate(std::size_t bytes);

  /// Returns the memory to the system, even if peers still map it: they read zeros. Registered
  /// addresses stay taken until the last registration ends, so that newer memory is not mistaken
  /// for this.
  /// \param gone  called when the memory is not found any more, before its addresses can be reused
  /// Errors  kInvalidArgument  not the beginning of an allocation, or freed already
  Status Free(const void* memory, const std::function<void()>& gone = {});

  /// Returns the allocation that contains all of `memory`, or null.
  std::shared_ptr<const os::Shm> Find(View memory) const;

 private:
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::shared_ptr<const os::Shm>> allocations_;  // by their beginning
};

}  // namespace ringlet::comm
