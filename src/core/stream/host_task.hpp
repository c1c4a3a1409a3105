// The host functions that streams run, and the calls that report from a function to its stream.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stream/item_end.hpp"

namespace ringlet::stream {

/// A host function. A graph may run it many times.
struct HostTask {
  std::function<Status()> run;
  /// Called instead of `run` if an earlier failure prevents `run`. May be empty.
  std::function<void(const Error& why)> pass_over = {};
  /// The task begins when its predecessors in these orders have ended, even if they failed.
  std::vector<std::shared_ptr<SerialOrder>> orders = {};
};
/// Shared by a graph, its clones and executables, and the items of its launches.
using TaskRef = std::shared_ptr<const HostTask>;

/// Runs the task on a worker. An exception or a call of FailRunningItem becomes the result's error.
/// \param enqueued  ticks (os::Ticks) at which the task was issued to its stream
Status RunTask(const HostTask& task, std::uint64_t enqueued = 0);

/// Returns the ticks (os::Ticks) at which the item that runs on this thread was issued to its
/// stream. For an item of a graph, this is the launch. 0 if this thread runs no item.
std::uint64_t RunningItemEnqueued();

/// Returns true if this thread is inside RunTask.
bool IsInsideItem();

/// Marks the item that runs on this thread as failed. Only the first call has an effect.
/// Errors  kUnsupported  this thread runs no item
Status FailRunningItem(std::string why);

}  // namespace ringlet::stream
