#include "c_api/handle/running.hpp"

#include <utility>

#include "comm/service/thread.hpp"

namespace ringlet::c_api {

void Running::End(const Status& status) {
  run_ = nullptr;
  if (!status.ok()) failure_ = status.error();
  done_.store(true, std::memory_order_release);
  done_.notify_all();
}

Status Running::Start(std::function<void(const Error&)> on_failure) {
  auto thread =
      comm::StartThread("for an operation that does not block",
                        [this, on_failure = std::move(on_failure)](const std::stop_token&) {
                          const Status status = comm::Caught(run_);
                          if (!status.ok()) on_failure(status.error());
                          End(status);
                        });
  if (!thread.ok()) {
    End(thread.error());
    return thread.error();
  }
  thread_ = std::move(*thread);
  return Ok();
}

}  // namespace ringlet::c_api
