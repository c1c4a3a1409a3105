// A library that is loaded at run time and may be missing.
#pragma once
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::os {

/// The destructor closes the library. Functions found in it must not be called later.
class SharedLibrary {
 public:
  /// The effect of closing. kForEver keeps the library loaded, for one with threads or a slow
  /// start.
  enum class Unloading { kWhileOpen, kForEver };
  /// \param name  a file name that the system's linker searches for, or a path
  /// Errors  kUnsupported  the library is missing or cannot be loaded; has the linker's message
  static Result<SharedLibrary> Open(const std::string& name,
                                    Unloading stay = Unloading::kWhileOpen);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  ~SharedLibrary();

  /// The function `symbol`, with a type that the caller knows. Null if the library lacks it.
  template <typename Function>
  Function* Find(const char* symbol) const {
    return reinterpret_cast<Function*>(FindAddress(symbol));
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* FindAddress(const char* symbol) const;

  void* handle_;
};

}  // namespace ringlet::os
