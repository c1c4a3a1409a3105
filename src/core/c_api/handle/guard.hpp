// Every C function is check, call, translate: the body gives a Status, Guard makes a code of it.
#pragma once
#include <exception>
#include <new>
#include <string_view>

#include "c_api/handle/handles.hpp"
#include "c_api/handle/last_error.hpp"

namespace ringlet::c_api {

/// Remembers and logs an error once; `function` names the C function for the log. If
/// memory runs out, the caller gets the code without a message.
ncclResult_t Report(std::string_view function, const Error& error) noexcept;
/// Reports an exception that Ringlet does not throw itself.
ncclResult_t ReportUnexpected(std::string_view function, const std::exception& thrown) noexcept;

/// Runs `body`; nothing that is thrown below crosses into C.
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

Status RequireNonNull(const void* pointer, std::string_view name);
/// Whether Ringlet can read and write at `pointer`, as far as that is known.
/// Errors  kInvalidArgument  it is null, or memory of a GPU
Status RequireMemory(const void* pointer, std::string_view name);

/// The number that the communicator knows a window by. \param name  of the argument
/// Errors  kInvalidArgument  null, or not what ncclCommWindowRegister gives
Result<std::uint32_t> WindowNumber(ncclWindow_t window, const char* name);

}  // namespace ringlet::c_api
