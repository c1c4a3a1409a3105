#include "os/fs/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "base/value/text.hpp"

namespace ringlet::os {

Result<SharedLibrary> SharedLibrary::Open(const std::string& name, Unloading stay) {
  const int flags = RTLD_NOW | RTLD_LOCAL | (stay == Unloading::kForEver ? RTLD_NODELETE : 0);
  void* const handle = dlopen(name.c_str(), flags);
  if (handle != nullptr) return SharedLibrary(handle);
  constexpr std::size_t kShownBytesMax = 400;
  const char* const why = dlerror();
  return Error{Code::kUnsupported,
               fmt::format("cannot load {}: {}", Printable(name, kShownBytesMax),
                           Printable(why == nullptr ? "no reason given" : why, kShownBytesMax))};
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* SharedLibrary::FindAddress(const char* symbol) const {
  return dlsym(handle_, symbol);
}

}  // namespace ringlet::os
