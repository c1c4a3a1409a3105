#include "frontends/c_api/handle/last_error.hpp"

#include <mutex>
#include <new>

#include "comm/service/fork_guard.hpp"

namespace ringlet::c_api {
namespace {

struct ProcessError {
  explicit ProcessError(const ProcessError* /*parent*/) {}
  std::mutex mutex;
  std::string message;
};
ProcessError& ErrorOfProcess() {
  static comm::PerProcess<ProcessError> its;
  return its.Here();
}
thread_local std::string of_thread;
thread_local std::string shown;

}  // namespace

ncclResult_t ToResult(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return ncclInvalidArgument;
    case Code::kUnsupported: return ncclInvalidUsage;
    case Code::kPeerLost: return ncclRemoteError;
    case Code::kTimeout: return ncclTimeout;
    case Code::kProtocol: return ncclInvalidUsage;
    case Code::kSystem: return ncclSystemError;
    case Code::kAborted: return ncclRemoteError;
  }
  return ncclInternalError;
}

void Remember(const Error& error) {
  of_thread = error.message;
  ProcessError& its = ErrorOfProcess();
  const std::lock_guard lock(its.mutex);
  its.message = error.message;
}

const char* LastError() {
  try {
    if (!of_thread.empty()) {
      shown = of_thread;
    } else {
      ProcessError& its = ErrorOfProcess();
      const std::lock_guard lock(its.mutex);
      shown = its.message;
    }
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
  return shown.c_str();
}

}  // namespace ringlet::c_api
