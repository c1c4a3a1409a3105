// What NCCL 2.28 has and Ringlet does not yet: declared, so that programs compile and link;
// refused, with a sentence in ncclGetLastError, so that nobody waits for what does not happen.
#include <fmt/format.h>

#include "frontends/c_api/group.hpp"
#include "frontends/c_api/guard.hpp"

namespace ringlet::c_api {
namespace {

ncclResult_t NotYet(std::string_view function) {
  return Guard(function, [&]() -> Status {
    const Error error{Code::kUnsupported, fmt::format("{} is not implemented yet", function)};
    SpoilGroup(error);
    return error;
  });
}

}  // namespace
}  // namespace ringlet::c_api

extern "C" {

#define RINGLET_NOT_YET(name, ...)        \
  ncclResult_t name(__VA_ARGS__) {        \
    return ringlet::c_api::NotYet(#name); \
  }                                       \
  extern decltype(name) p##name __attribute__((alias(#name)))

RINGLET_NOT_YET(ncclGroupSimulateEnd, ncclSimInfo_t*);

#undef RINGLET_NOT_YET

}  // extern "C"
