// Events: points of streams that streams and threads wait for.
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "os/clock.hpp"
#include "stream/stream_table.hpp"

namespace ringlet::stream {
namespace {

constexpr unsigned kEventFlags =
    ringletEventBlockingSync | ringletEventDisableTiming | ringletEventInterprocess;

Answer IsOfCapture() {
  return {ringletCapturedEvent,
          "the event was recorded in a capture: it is a point of a graph, and not of work that "
          "runs"};
}

Answer OutcomeOf(const ItemEndRef& record) {
  if (!record) return {};
  if (record->pending()) return {ringletNotReady, ""};
  if (const FailureRef failure = record->failure()) return {ringletFailed, failure->error.message};
  return {};
}

}  // namespace

Answer StreamTable::CreateEvent(ringletEvent_t* event, unsigned flags) {
  if ((flags & ~kEventFlags) != 0)
    return {ringletInvalidArgument,
            fmt::format("flags are {:#x}: they contain an unknown flag of events", flags)};
  if ((flags & ringletEventInterprocess) != 0 && (flags & ringletEventDisableTiming) == 0)
    return {ringletInvalidArgument, "ringletEventInterprocess requires ringletEventDisableTiming"};
  const Lock lock(mutex_);
  *event = NextHandle<ringletEvent_t>();
  events_[*event].flags = flags;
  return {};
}

Answer StreamTable::DestroyEvent(ringletEvent_t event) {
  const Lock lock(mutex_);
  // Waiting streams and threads hold the record, not the event.
  return events_.erase(event) == 1 ? Answer{} : Unknown(event, "event");
}

Answer StreamTable::Record(ringletEvent_t event, ringletStream_t stream) {
  Lock lock(mutex_);
  StreamRef from;
  RINGLET_ANSWER(Enter(lock, stream, &from));
  const auto found = events_.find(event);
  if (found == events_.end()) return Unknown(event, "event");
  RINGLET_ANSWER(CheckLegacy(*from));
  EventState& state = found->second;
  if (from->capture) {
    RINGLET_ANSWER(CheckCapturing(*from));
    state.record = nullptr;
    state.capture = from->capture;
    state.tips = from->tips;
    return {};
  }
  ItemEndRef mark;
  RINGLET_ANSWER(Mark(*from, &mark));
  state.record = std::move(mark);
  state.capture = nullptr;
  return {};
}

Answer StreamTable::RecordNow(ringletEvent_t event) {
  const Lock lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) return Unknown(event, "event");
  found->second.record = ItemEnd::At(os::Now());
  found->second.capture = nullptr;
  return {};
}

Answer StreamTable::CheckBegin(ringletEvent_t event) {
  const Lock lock(mutex_);
  return CheckBeginLocked(event);
}

Answer StreamTable::CheckBeginLocked(ringletEvent_t event) const {
  const auto found = events_.find(event);
  if (found == events_.end()) return Unknown(event, "event");
  if (!found->second.timed() && (found->second.flags & ringletEventInterprocess) == 0) return {};
  return {ringletInvalidArgument,
          "the event cannot mark a launch: create it with ringletEventDisableTiming and without "
          "ringletEventInterprocess"};
}

Answer StreamTable::QueryEvent(ringletEvent_t event) {
  const Lock lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) return Unknown(event, "event");
  if (found->second.capture) return IsOfCapture();
  return OutcomeOf(found->second.record);
}

Answer StreamTable::SynchronizeEvent(ringletEvent_t event) {
  if (IsInsideItem())
    return {ringletNotPermitted, "a host function of a stream may not wait for events"};
  ItemEndRef record;
  {
    const Lock lock(mutex_);
    const auto found = events_.find(event);
    if (found == events_.end()) return Unknown(event, "event");
    if (found->second.capture) return IsOfCapture();
    record = found->second.record;
  }
  if (record) record->Wait();
  return OutcomeOf(record);
}

Answer StreamTable::ElapsedTime(float* milliseconds, ringletEvent_t start, ringletEvent_t end) {
  const Lock lock(mutex_);
  Instant times[2] = {};
  const ringletEvent_t events[2] = {start, end};
  for (int i = 0; i < 2; ++i) {
    const auto found = events_.find(events[i]);
    if (found == events_.end()) return Unknown(events[i], "event");
    const EventState& state = found->second;
    if (state.capture) return IsOfCapture();
    if (!state.timed() || !state.record)
      return {ringletInvalidHandle,
              fmt::format("the {} event {}", i == 0 ? "first" : "second",
                          state.record ? "was made without timing" : "was never recorded")};
    RINGLET_ANSWER(OutcomeOf(state.record));
    times[i] = state.record->when();
  }
  *milliseconds = std::chrono::duration<float, std::milli>(times[1] - times[0]).count();
  return {};
}

Answer StreamTable::WaitEvent(ringletStream_t stream, ringletEvent_t event) {
  Lock lock(mutex_);
  StreamRef waiter;
  RINGLET_ANSWER(Enter(lock, stream, &waiter));
  const auto found = events_.find(event);
  if (found == events_.end()) return Unknown(event, "event");
  RINGLET_ANSWER(CheckLegacy(*waiter));
  if (found->second.capture) return Join(*waiter, found->second);
  const ItemEndRef& record = found->second.record;
  if (waiter->capture) {
    RINGLET_ANSWER(CheckCapturing(*waiter));
    if (!record) return {};
    Break(*waiter->capture);
    return {ringletCaptureIsolation,
            "a captured stream cannot wait for an event that was recorded outside of its capture, "
            "which is invalid now"};
  }
  if (!IsPendingOrFailed(record)) return {};
  if (const Status started = waiter->worker.Start(); !started.ok())
    return {ringletOutOfMemory, started.error().message};
  std::vector<ItemEndRef> after = ImplicitPredecessors(*waiter);
  after.push_back(record);
  Issue(*waiter, {.after = std::move(after)});
  return {};
}

}  // namespace ringlet::stream
