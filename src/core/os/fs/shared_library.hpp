// A library that is looked for while the program runs, and may not be there.
#pragma once
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::os {

/// Closes the library at its end: functions found in it are not called after that.
class SharedLibrary {
 public:
  /// The meaning of closing: kForEver keeps the library in the process, for one that has threads of
  /// its own or takes long to start.
  enum class Stay { kWhileOpen, kForEver };
  /// \param name  a file name that the system's linker looks for, or a path
  /// Errors  kUnsupported  the library is not there or cannot be loaded; the linker's words
  static Result<SharedLibrary> Open(const std::string& name, Stay stay = Stay::kWhileOpen);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  ~SharedLibrary();

  /// The function `symbol`, whose type the caller knows; null when the library has none.
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
