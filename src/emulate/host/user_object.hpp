// Objects of a program that live as long as the graphs that use them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "ringlet/export.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cuda {

/// All methods from any thread. The function of an object is called without a lock.
class RINGLET_API UserObjects {
 public:
  using Function = void(void*);

  /// A handle of an object with `references`; `end(data)` is called when the last is released.
  /// Errors  kInvalidArgument  no function, or no reference
  Result<void*> Create(void* data, Function* end, unsigned references);
  /// Errors  kInvalidArgument  no such object, or no reference
  Status Retain(void* object, unsigned references);
  /// Errors  kInvalidArgument  no such object, or it has fewer references
  Status Release(void* object, unsigned references);

 private:
  struct UserObject {
    void* data = nullptr;
    Function* end = nullptr;
    std::size_t references = 0;
  };

  std::mutex mutex_;
  std::map<std::uintptr_t, UserObject> objects_;
  std::uintptr_t numbers_ = 0;
};

}  // namespace ringlet::cuda
