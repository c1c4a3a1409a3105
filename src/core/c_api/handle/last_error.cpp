#include "c_api/handle/last_error.hpp"

#include <mutex>
#include <new>

#include "comm/service/fork_guard.hpp"
#include "os/process/per_thread.hpp"

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
struct ThreadError {
  std::string message;
  std::string shown;
  int lost_rank = -1;
};
os::PerThread<ThreadError> errors_of_threads;

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

void RecordLastError(const Error& error) {
  ThreadError& of_thread = errors_of_threads.Get();
  of_thread.lost_rank = error.lost_rank;
  of_thread.message = error.message;
  ProcessError& its = ErrorOfProcess();
  const std::lock_guard lock(its.mutex);
  its.message = error.message;
}

const char* LastError() {
  try {
    ThreadError& of_thread = errors_of_threads.Get();
    std::string& shown = of_thread.shown;
    if (!of_thread.message.empty()) {
      shown = of_thread.message;
    } else {
      ProcessError& its = ErrorOfProcess();
      const std::lock_guard lock(its.mutex);
      shown = its.message;
    }
    return shown.c_str();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
}

int LastLostRank() noexcept {
  const ThreadError* const of_thread = errors_of_threads.Find();
  return of_thread ? of_thread->lost_rank : -1;
}

}  // namespace ringlet::c_api
