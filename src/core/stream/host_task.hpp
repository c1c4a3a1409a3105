// The host functions that streams run, and what these can tell the stream that runs them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stream/item_end.hpp"

namespace ringlet::stream {

/// A host function, which a graph may run many times.
struct HostTask {
  std::function<Status()> run;
  /// Called in its place where an earlier failure keeps it from running. May be empty.
  std::function<void(const Error& why)> pass_over = {};
  /// It begins when its predecessors in these have ended, whether they failed or not.
  std::vector<std::shared_ptr<SerialOrder>> orders = {};
};
/// Shared by a graph, its clones and executables, and the items of its launches.
using TaskRef = std::shared_ptr<const HostTask>;

/// Runs it; what it throws or reports by FailRunningItem is its error. On a worker.
/// \param enqueued  by os::Ticks: when its stream was given it
Status RunTask(const HostTask& task, std::uint64_t enqueued = 0);

/// When the item that runs on this thread was given to its stream; of a graph, when it was
/// launched. By os::Ticks; 0: none runs here.
std::uint64_t RunningItemEnqueued();

/// Whether this thread is inside RunTask.
bool IsInsideItem();

/// The item that runs on this thread has failed. The first time counts.
/// Errors  kUnsupported  none runs here
Status FailRunningItem(std::string why);

}  // namespace ringlet::stream
