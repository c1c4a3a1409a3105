// ringlet/stream.h: devices, streams, events and captures.
#include "ringlet/stream.h"

#include <fmt/format.h>

#include <span>

#include "stream/current_device.hpp"
#include "stream/stream_table.hpp"
#include "stream_api/run_guarded.hpp"

namespace ringlet::stream_api {
namespace {

using stream::Answer;
using stream::StreamTable;

StreamTable& Table() {
  return StreamTable::Here();
}

Answer LaunchOwned(ringletStream_t stream, ringletHostFunction_t function, void* data,
                   ringletHostFunction_t release) {
  RINGLET_ANSWER(RequireThere(reinterpret_cast<const void*>(function), "function"));
  const auto owned = std::make_shared<HostData>(data, nullptr);
  const stream::TaskRef task = TaskOf(function, owned);
  // From here on, no memory is allocated until the task is issued or refused.
  owned->SetRelease(release);
  Answer answer = Table().Launch(stream, task);
  if (!answer.ok()) owned->SetRelease(nullptr);
  return answer;
}

Answer FailItem(const char* why) {
  const Status failed = stream::FailRunningItem(why ? why : "a host function failed");
  if (failed.ok()) return {};
  return {ringletNotPermitted, failed.error().message};
}

Answer SetDevice(int device) {
  if (device < 0 || device >= RINGLET_STREAM_DEVICES_MAX)
    return {ringletInvalidArgument, fmt::format("device is {}, not between 0 and {}", device,
                                                RINGLET_STREAM_DEVICES_MAX - 1)};
  stream::SetCurrentDevice(device);
  return {};
}

/// Reads one property of a stream.
template <typename T, typename Get>
ringletResult_t Read(ringletStream_t stream, T* out, const char* name, Get get) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(out, name));
    StreamTable::Properties properties;
    RINGLET_ANSWER(Table().Describe(stream, &properties));
    *out = static_cast<T>(get(properties));
    return {};
  });
}

Answer DescribeCapture(ringletStream_t stream, int* status, unsigned long long* id,
                       ringletGraph_t* graph) {
  RINGLET_ANSWER(RequireThere(status, "status"));
  StreamTable::CaptureStatus found;
  RINGLET_ANSWER(Table().DescribeCapture(stream, &found));
  *status = found.status;
  if (id && found.status == ringletCaptureActive) *id = found.id;
  if (graph && found.status == ringletCaptureActive) *graph = found.graph;
  return {};
}

Answer GetCaptureNodes(ringletStream_t stream, ringletGraphNode_t* nodes, size_t* count) {
  RINGLET_ANSWER(RequireThere(count, "count"));
  std::vector<ringletGraphNode_t> found;
  RINGLET_ANSWER(Table().GetCaptureNodes(stream, &found));
  CopyNodes(found, nodes, count);
  return {};
}

Answer SetCaptureNodes(ringletStream_t stream, const ringletGraphNode_t* nodes, size_t count,
                       int adds) {
  if (count > 0) RINGLET_ANSWER(RequireThere(nodes, "nodes"));
  return Table().SetCaptureNodes(stream, std::span(nodes, count), adds != 0);
}

}  // namespace
}  // namespace ringlet::stream_api

namespace api = ringlet::stream_api;
using api::RequireThere;
using api::RunGuarded;
using api::Table;
using ringlet::stream::Answer;
using ringlet::stream::StreamTable;

extern "C" {

const char* ringletStreamResultName(ringletResult_t result) {
  return ringlet::stream::ResultName(result);
}

const char* ringletStreamLastMessage(void) {
  return api::LastMessage();
}

const char* ringletStreamLastError(ringletStream_t stream) {
  StreamTable::Properties properties;
  static_cast<void>(RunGuarded([&] { return Table().Describe(stream, &properties); }));
  return api::Show(std::move(properties.last_error));
}

ringletResult_t ringletStreamFail(const char* why) {
  return RunGuarded([&] { return api::FailItem(why); });
}

ringletResult_t ringletStreamSetDevice(int device) {
  return RunGuarded([&] { return api::SetDevice(device); });
}

ringletResult_t ringletStreamGetDevice(int* device) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(device, "device"));
    *device = ringlet::stream::CurrentDevice();
    return {};
  });
}

ringletResult_t ringletStreamSynchronizeDevice(int device) {
  return RunGuarded([&] { return Table().SynchronizeDevice(device); });
}

ringletResult_t ringletStreamAwaitDevice(int device) {
  return RunGuarded([&] { return Table().AwaitDevice(device); });
}

void ringletStreamUseNull(int on) {
  ringlet::stream::null_is_stream.store(on != 0, std::memory_order_relaxed);
}

ringletResult_t ringletStreamCreate(ringletStream_t* stream, int device, unsigned int flags,
                                    int priority) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(stream, "stream"));
    return Table().Create(stream, device, flags, priority);
  });
}

ringletResult_t ringletStreamDestroy(ringletStream_t stream) {
  return RunGuarded([&] { return Table().Destroy(stream); });
}

ringletResult_t ringletStreamQuery(ringletStream_t stream) {
  return RunGuarded([&] { return Table().Query(stream); });
}

ringletResult_t ringletStreamSynchronize(ringletStream_t stream) {
  return RunGuarded([&] { return Table().Synchronize(stream); });
}

ringletResult_t ringletStreamWaitEvent(ringletStream_t stream, ringletEvent_t event) {
  return RunGuarded([&] { return Table().WaitEvent(stream, event); });
}

ringletResult_t ringletStreamLaunch(ringletStream_t stream, ringletHostFunction_t function,
                                    void* data) {
  return RunGuarded([&] { return api::LaunchOwned(stream, function, data, nullptr); });
}

ringletResult_t ringletStreamLaunchOwned(ringletStream_t stream, ringletHostFunction_t function,
                                         void* data, ringletHostFunction_t release) {
  return RunGuarded([&] { return api::LaunchOwned(stream, function, data, release); });
}

ringletResult_t ringletStreamGetFlags(ringletStream_t stream, unsigned int* flags) {
  return api::Read(stream, flags, "flags",
                   [](const StreamTable::Properties& its) { return its.flags; });
}

ringletResult_t ringletStreamGetPriority(ringletStream_t stream, int* priority) {
  return api::Read(stream, priority, "priority",
                   [](const StreamTable::Properties& its) { return its.priority; });
}

ringletResult_t ringletStreamGetDeviceOf(ringletStream_t stream, int* device) {
  return api::Read(stream, device, "device",
                   [](const StreamTable::Properties& its) { return its.device; });
}

ringletResult_t ringletStreamGetId(ringletStream_t stream, unsigned long long* id) {
  return api::Read(stream, id, "id", [](const StreamTable::Properties& its) { return its.id; });
}

ringletResult_t ringletEventCreate(ringletEvent_t* event, unsigned int flags) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(event, "event"));
    return Table().CreateEvent(event, flags);
  });
}

ringletResult_t ringletEventDestroy(ringletEvent_t event) {
  return RunGuarded([&] { return Table().DestroyEvent(event); });
}

ringletResult_t ringletEventRecord(ringletEvent_t event, ringletStream_t stream) {
  return RunGuarded([&] { return Table().Record(event, stream); });
}

ringletResult_t ringletEventQuery(ringletEvent_t event) {
  return RunGuarded([&] { return Table().QueryEvent(event); });
}

ringletResult_t ringletEventSynchronize(ringletEvent_t event) {
  return RunGuarded([&] { return Table().SynchronizeEvent(event); });
}

ringletResult_t ringletEventElapsedTime(float* milliseconds, ringletEvent_t start,
                                        ringletEvent_t end) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(milliseconds, "milliseconds"));
    return Table().ElapsedTime(milliseconds, start, end);
  });
}

ringletResult_t ringletStreamBeginCapture(ringletStream_t stream, int mode) {
  return RunGuarded([&] { return Table().BeginCapture(stream, mode); });
}

ringletResult_t ringletStreamEndCapture(ringletStream_t stream, ringletGraph_t* graph) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(graph, "graph"));
    return Table().EndCapture(stream, graph);
  });
}

ringletResult_t ringletStreamCaptureStatus(ringletStream_t stream, int* status,
                                           unsigned long long* id, ringletGraph_t* graph) {
  return RunGuarded([&] { return api::DescribeCapture(stream, status, id, graph); });
}

ringletResult_t ringletStreamGetCaptureNodes(ringletStream_t stream, ringletGraphNode_t* nodes,
                                             size_t* count) {
  return RunGuarded([&] { return api::GetCaptureNodes(stream, nodes, count); });
}

ringletResult_t ringletStreamSetCaptureNodes(ringletStream_t stream,
                                             const ringletGraphNode_t* nodes, size_t count,
                                             int adds) {
  return RunGuarded([&] { return api::SetCaptureNodes(stream, nodes, count, adds); });
}

ringletResult_t ringletStreamExchangeCaptureMode(int* mode) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(mode, "mode"));
    return StreamTable::ExchangeCaptureMode(mode);
  });
}

ringletResult_t ringletStreamCheckCapture(void) {
  return RunGuarded([] { return Table().CheckCapture(); });
}

}  // extern "C"
