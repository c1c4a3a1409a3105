// Callbacks of the program that receive error sentences, as in CUDA's error log.
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

/// Any thread may call all methods, except a listener. Errors inside a listener are not reported.
class RINGLET_API LogListeners {
 public:
  /// The text is valid until the function returns. It ends with a NUL beyond `length`.
  using Function = void(void* data, CudaLogLevel level, char* text, std::size_t length);

  /// Registers a function until Remove and returns its handle.
  /// Errors  kInvalidArgument  `function` is null
  Result<void*> Add(Function* function, void* data);
  /// Unregisters a function. It is not running when this returns, and is not called again.
  /// Errors  kInvalidArgument  the handle is unknown
  Status Remove(void* handle);

  /// True if a listener is registered.
  bool any() const;
  void NotifyListeners(CudaLogLevel level, std::string_view sentence);

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
