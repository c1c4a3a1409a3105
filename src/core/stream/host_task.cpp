#include "stream/host_task.hpp"

#include <utility>

#include "os/process/thread.hpp"

namespace ringlet::stream {
namespace {

struct RunningItem {
  std::uint64_t enqueued = 0;
  std::optional<Error> failed = {};
};
// The item of this worker. Some functions require such an item, others forbid it.
thread_local RunningItem* running_item = nullptr;

}  // namespace

Status RunTask(const HostTask& task, std::uint64_t enqueued) {
  RunningItem here{.enqueued = enqueued};
  RunningItem* const outer = std::exchange(running_item, &here);
  const Status status = os::Caught(task.run);
  running_item = outer;
  if (!status.ok()) return status.error();
  if (here.failed) return *std::move(here.failed);
  return Ok();
}

std::uint64_t RunningItemEnqueued() {
  return running_item ? running_item->enqueued : 0;
}

bool IsInsideItem() {
  return running_item != nullptr;
}

Status FailRunningItem(std::string why) {
  if (!running_item)
    return Error{Code::kUnsupported, "no host function of a stream runs on this thread"};
  if (!running_item->failed) running_item->failed = Error{Code::kSystem, std::move(why)};
  return Ok();
}

}  // namespace ringlet::stream
