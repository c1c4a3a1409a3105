// Functions of the program that hear the sentences of errors, as CUDA's error log has it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>

#include "ringlet/export.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cuda {

/// The CUlogLevel.
enum class CudaLogLevel : int { kError, kWarning };

/// All methods from any thread, but not from a listener: errors of the calls of a listener are not
/// told.
class RINGLET_API LogListeners {
 public:
  /// The text ends with a NUL, which `length` does not count, and is valid until the function
  /// returns.
  using Function = void(void* data, CudaLogLevel level, char* text, std::size_t length);

  /// A handle, under which the function is called until it is removed.
  /// Errors  kInvalidArgument  no function
  Result<void*> Add(Function* function, void* data);
  /// The function is not running any more when this returns, and will not be called again.
  /// Errors  kInvalidArgument  no such handle
  Status Remove(void* handle);

  /// Whether there is a listener.
  bool any() const;
  void Tell(CudaLogLevel level, std::string_view sentence);

 private:
  struct LogListener {
    Function* function = nullptr;
    void* data = nullptr;
  };

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, LogListener> listeners_;
  std::uintptr_t numbers_ = 0;
};

}  // namespace ringlet::cuda
