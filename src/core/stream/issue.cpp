// The order of streams: issuing items, their predecessors, and the calls that wait for them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "os/clock.hpp"
#include "stream/current_device.hpp"
#include "stream/stream_table.hpp"

namespace ringlet::stream {
namespace {

Answer NotStarted(const Status& status) {
  return {ringletOutOfMemory, status.error().message};
}

Answer WouldWait() {
  return {ringletNotPermitted,
          "a host function of a stream may not wait for streams: its worker would block"};
}

Answer FailedFor(const FailureRef& failure) {
  return {ringletFailed, failure->error.message};
}

Answer IsCaptured() {
  return {ringletCaptureUnsupported,
          "the stream is captured: its work does not run and cannot be awaited; the capture is "
          "invalid now"};
}

/// The item begins when its predecessors in the serial orders have ended, even if they failed.
void FollowOrders(const HostTask& task, StreamItem& item) {
  for (const auto& order : task.orders) {
    if (ItemEndRef last = order->last(); last && last->pending())
      item.after_any_end.push_back(std::move(last));
    if (!order->forgiven()) item.sources.push_back(order);
  }
}

}  // namespace

std::vector<ItemEndRef> StreamTable::ImplicitPredecessors(const StreamState& stream) {
  std::vector<ItemEndRef> predecessors;
  const DeviceStreams& device = devices_[stream.device];
  if (stream.legacy) {
    for (const StreamRef& other : device.streams)
      if (other->blocking() && IsPendingOrFailed(other->last)) predecessors.push_back(other->last);
  } else if (stream.blocking() && device.legacy && IsPendingOrFailed(device.legacy->last)) {
    predecessors.push_back(device.legacy->last);
  }
  return predecessors;
}

Answer StreamTable::CheckLegacy(const StreamState& stream) {
  if (!stream.legacy) return {};
  bool captured = false;
  for (const StreamRef& other : devices_[stream.device].streams) {
    if (!other->blocking() || !other->capture) continue;
    Break(*other->capture);
    captured = true;
  }
  if (!captured) return {};
  return {ringletCaptureImplicit,
          "the legacy stream waits for all blocking streams, and one of them is captured: the "
          "capture is invalid now"};
}

ItemEndRef StreamTable::Issue(StreamState& stream, StreamItem item) {
  ItemEndRef done = item.done;
  stream.worker.Push(std::move(item));
  return stream.last = done;
}

Answer StreamTable::Mark(StreamState& stream, ItemEndRef* mark) {
  std::vector<ItemEndRef> predecessors = ImplicitPredecessors(stream);
  if (predecessors.empty() && !(stream.last && stream.last->pending())) {
    // Without pending work, the mark is the present time.
    *mark = IsPendingOrFailed(stream.last) ? stream.last : ItemEnd::At(os::Now());
    return {};
  }
  if (const Status started = stream.worker.Start(); !started.ok()) return NotStarted(started);
  *mark = Issue(stream, {.after = std::move(predecessors)});
  return {};
}

Answer StreamTable::Launch(ringletStream_t stream, TaskRef task) {
  JointTask joint{.streams = {stream}, .task = std::move(task)};
  return Enqueue({&joint, 1});
}

Answer StreamTable::ResolveJoint(Lock& lock, const JointTask& joint,
                                 std::vector<StreamRef>* streams) {
  for (const ringletStream_t handle : joint.streams) {
    StreamRef found;
    RINGLET_ANSWER(Enter(lock, handle, &found));
    if (std::find(streams->begin(), streams->end(), found) == streams->end())
      streams->push_back(std::move(found));
  }
  return {};
}

Answer StreamTable::CheckJoint(const JointTask& joint, const std::vector<StreamRef>& streams) {
  for (const StreamRef& stream : streams) {
    RINGLET_ANSWER(CheckLegacy(*stream));
    if (stream->capture == streams.front()->capture) {
      RINGLET_ANSWER(CheckCapturing(*stream));
      continue;
    }
    for (const StreamRef& one : streams)
      if (one->capture) Break(*one->capture);
    return {ringletCaptureIsolation,
            "one group has operations on streams that are captured together and on others: their "
            "captures are invalid now"};
  }
  const CaptureRef& capture = streams.front()->capture;
  if (!joint.awaited || !capture) return {};
  Break(*capture);
  return {ringletCaptureUnsupported,
          "one group has operations of a communicator on a captured stream and on the null stream, "
          "where they are complete on return: the capture is invalid now"};
}

Answer StreamTable::Enqueue(std::span<JointTask> tasks) {
  Lock lock(mutex_);
  std::vector<std::vector<StreamRef>> streams(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i)
    RINGLET_ANSWER(ResolveJoint(lock, tasks[i], &streams[i]));
  // The lock is held from here on, so that no other item is issued in between.
  for (const JointTask& task : tasks)
    for (const ringletEvent_t event : task.begins) RINGLET_ANSWER(CheckBeginLocked(event));
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    RINGLET_ANSWER(CheckJoint(tasks[i], streams[i]));
    for (const StreamRef& stream : streams[i]) {
      if (stream->retired) return Unknown(stream->handle, "stream");
      if (stream->capture) continue;
      if (const Status started = stream->worker.Start(); !started.ok()) return NotStarted(started);
    }
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (streams[i].front()->capture) {
      RINGLET_ANSWER(CaptureJoint(tasks[i], streams[i]));
    } else {
      IssueJoint(tasks[i], streams[i]);
    }
  }
  return {};
}

Answer StreamTable::CaptureJoint(const JointTask& joint, const std::vector<StreamRef>& streams) {
  StreamState& first = *streams.front();
  for (const StreamRef& other : streams) first.tips = Union(std::move(first.tips), other->tips);
  for (const ringletEvent_t event : joint.begins) {
    EventState& state = events_.at(event);
    state.record = nullptr;
    state.capture = first.capture;
    state.tips = first.tips;
  }
  RINGLET_ANSWER(Capture(first, joint.task));
  for (const StreamRef& other : streams) other->tips = first.tips;
  return {};
}

void StreamTable::IssueJoint(JointTask& joint, const std::vector<StreamRef>& streams) {
  StreamState& first = *streams.front();
  StreamItem item{.after = ImplicitPredecessors(first), .tasks = {joint.task}};
  for (const StreamRef& other : streams) {
    if (other.get() == &first) continue;
    for (ItemEndRef& one : ImplicitPredecessors(*other)) item.after.push_back(std::move(one));
    if (IsPendingOrFailed(other->last)) item.after.push_back(other->last);
  }
  FollowOrders(*joint.task, item);
  if (!joint.begins.empty()) {
    const ItemEndRef begun = Issue(first, {.after = std::exchange(item.after, {}),
                                           .after_any_end = std::exchange(item.after_any_end, {})});
    for (const ringletEvent_t event : joint.begins) {
      events_.at(event).record = begun;
      events_.at(event).capture = nullptr;
    }
  }
  joint.done = Issue(first, std::move(item));
  for (const auto& order : joint.task->orders) order->Follow(joint.done);
  for (const StreamRef& other : streams)
    if (other.get() != &first) Issue(*other, {.after = {joint.done}});
}

std::vector<StreamTable::Awaited> StreamTable::AwaitedBy(const StreamRef& stream) {
  std::vector<Awaited> awaited;
  if (IsPendingOrFailed(stream->last)) awaited.push_back({stream, stream->last});
  if (!stream->legacy) return awaited;
  for (const StreamRef& other : devices_[stream->device].streams)
    if (other->blocking() && IsPendingOrFailed(other->last))
      awaited.push_back({other, other->last});
  return awaited;
}

Answer StreamTable::Query(ringletStream_t stream) {
  const Lock lock(mutex_);
  const StreamRef found = Find(stream);
  if (!found) return Unknown(stream, "stream");
  RINGLET_ANSWER(CheckLegacy(*found));
  if (found->capture) {
    Break(*found->capture);
    return IsCaptured();
  }
  const std::vector<Awaited> awaited = AwaitedBy(found);
  for (const Awaited& one : awaited)
    if (one.last->pending()) return {ringletNotReady, ""};
  for (const Awaited& one : awaited)
    if (const FailureRef failure = one.last->failure()) return FailedFor(failure);
  return {};
}

Answer StreamTable::AwaitAll(Lock& lock, const std::vector<Awaited>& awaited) {
  lock.unlock();
  FailureRef failure;
  for (const Awaited& one : awaited) {
    one.last->Wait();
    if (!failure) failure = one.last->failure();
  }
  lock.lock();
  if (!failure) return {};
  for (const Awaited& one : awaited) {
    if (!one.last->failure()) continue;
    one.stream->worker.ClearFailure();
    if (one.stream->last == one.last) one.stream->last.reset();
  }
  return FailedFor(failure);
}

Answer StreamTable::Synchronize(ringletStream_t stream) {
  if (IsInsideItem()) return WouldWait();
  Lock lock(mutex_);
  const StreamRef found = Find(stream);
  if (!found) return Unknown(stream, "stream");
  RINGLET_ANSWER(CheckLegacy(*found));
  if (found->capture) {
    Break(*found->capture);
    return IsCaptured();
  }
  return AwaitAll(lock, AwaitedBy(found));
}

Answer StreamTable::CheckAwaitable(int device) {
  if (IsInsideItem()) return WouldWait();
  if (device >= 0 && device < RINGLET_STREAM_DEVICES_MAX) return {};
  return {ringletInvalidArgument, fmt::format("device is {}, not between 0 and {}", device,
                                              RINGLET_STREAM_DEVICES_MAX - 1)};
}

Answer StreamTable::SynchronizeDevice(int device) {
  RINGLET_ANSWER(CheckAwaitable(device));
  {
    const Lock lock(mutex_);
    bool captured = false;
    for (const StreamRef& stream : devices_[device].streams) {
      if (!stream->capture) continue;
      Break(*stream->capture);
      captured = true;
    }
    if (captured) return IsCaptured();
  }
  return AwaitDevice(device);
}

Answer StreamTable::AwaitDevice(int device) {
  RINGLET_ANSWER(CheckAwaitable(device));
  Answer answer;
  {
    Lock lock(mutex_);
    const ItemEndRef before = std::exchange(devices_[device].unreported, nullptr);
    std::vector<Awaited> awaited;
    for (const StreamRef& stream : devices_[device].streams)
      if (IsPendingOrFailed(stream->last)) awaited.push_back({stream, stream->last});
    answer = AwaitAll(lock, awaited);
    const FailureRef failure = before ? before->failure() : nullptr;
    if (failure && answer.ok()) answer = FailedFor(failure);
  }
  Reap();
  return answer;
}

}  // namespace ringlet::stream
