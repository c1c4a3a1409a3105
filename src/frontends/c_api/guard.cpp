#include "frontends/c_api/guard.hpp"

#include <fmt/format.h>

namespace ringlet::c_api {

ncclResult_t Report(std::string_view function, const Error& error) {
  Remember(error);
  if (const auto process = LookAtProcess(); process.ok())
    (*process)->logger().Log(
        LogLevel::kWarn, Subsystem::kCall, std::nullopt,
        fmt::format("{}: {}: {}", function, CodeName(error.code), error.message), error.file,
        error.line);
  return ToResult(error.code);
}

Status RequireNonNull(const void* pointer, std::string_view name) {
  if (pointer) return Ok();
  return Error{Code::kInvalidArgument, fmt::format("{} is NULL", name)};
}

}  // namespace ringlet::c_api
