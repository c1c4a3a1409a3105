// Objects of a program that live as long as the graphs that use them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "ringlet/export.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cuda {

/// Any thread may call all methods. An object's function is called without a lock.
class RINGLET_API UserObjects {
 public:
  using Function = void(void*);

  /// Returns an object's handle with `references`. Releasing the last one calls `end(data)`.
  /// Errors  kInvalidArgument  no function or no reference
  Result<void*> Create(void* data, Function* end, unsigned references);
  /// Errors  kInvalidArgument  the object does not exist, or `references` is 0
  Status Retain(void* object, unsigned references);
  /// Errors  kInvalidArgument  the object does not exist, or has fewer references
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
