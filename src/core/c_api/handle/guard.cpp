#include "c_api/handle/guard.hpp"

#include <fmt/format.h>

namespace ringlet::c_api {

ncclResult_t Report(std::string_view function, const Error& error) noexcept {
  try {
    RecordLastError(error);
    if (const auto process = ProcessForSettings(); process.ok())
      (*process)->logger().Log(
          LogLevel::kWarn, Subsystem::kCall, std::nullopt,
          fmt::format("{}: {}: {}", function, CodeName(error.code), error.message), error.file,
          error.line);
  } catch (const std::bad_alloc&) {
    // The message and the log line need memory; the caller gets the code without them.
  }
  return ToResult(error.code);
}

ncclResult_t ReportUnexpected(std::string_view function, const std::exception& thrown) noexcept {
  try {
    return Report(function, Error{Code::kSystem, std::string("unexpected: ") + thrown.what()});
  } catch (const std::bad_alloc&) {
    return ToResult(Code::kSystem);
  }
}

Error RefusalOf(const void* pointer, std::string_view name) {
  if (!pointer) return Error{Code::kInvalidArgument, fmt::format("{} is NULL", name)};
  return Error{Code::kInvalidArgument,
               fmt::format("{} is memory of a GPU; Ringlet moves CPU memory: copy it to the host "
                           "first, or use cudaMallocHost",
                           name)};
}

}  // namespace ringlet::c_api
