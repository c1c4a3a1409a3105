// The wrapper of all C functions: Guard turns the Status of a body into a result code.
#pragma once
#include <exception>
#include <new>
#include <string_view>

#include "c_api/handle/handles.hpp"
#include "c_api/handle/last_error.hpp"
#include "os/fs/gpu_driver.hpp"

namespace ringlet::c_api {

/// Remembers and logs an error once. `function` is the C function's name for the log. If memory
/// runs out, the caller gets the code without a message.
ncclResult_t Report(std::string_view function, const Error& error) noexcept;
/// Reports an exception that does not originate in Ringlet.
ncclResult_t ReportUnexpected(std::string_view function, const std::exception& thrown) noexcept;

/// Runs `body`. No exception crosses into C.
template <typename Body>
ncclResult_t Guard(std::string_view function, Body&& body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? ncclSuccess : Report(function, status.error());
  } catch (const std::bad_alloc&) {
    return Report(function, Error{Code::kSystem, "out of memory"});
  } catch (const std::exception& e) {
    return ReportUnexpected(function, e);
  }
}

/// Returns the error of an argument that is null or, if not, GPU memory.
Error RefusalOf(const void* pointer, std::string_view name);
inline Status RequireNonNull(const void* pointer, std::string_view name) {
  if (pointer) [[likely]]
    return Ok();
  return RefusalOf(pointer, name);
}
/// Checks that Ringlet can read and write at `pointer`, as far as known.
/// Errors  kInvalidArgument  `pointer` is null or GPU memory
inline Status RequireMemory(const void* pointer, std::string_view name) {
  if (pointer && !os::IsGpuMemory(pointer)) [[likely]]
    return Ok();
  return RefusalOf(pointer, name);
}

/// Returns the communicator's number of a window. \param name  name of the argument
/// Errors  kInvalidArgument  `window` is null or not from ncclCommWindowRegister
Result<std::uint32_t> WindowNumber(ncclWindow_t window, const char* name);

}  // namespace ringlet::c_api
