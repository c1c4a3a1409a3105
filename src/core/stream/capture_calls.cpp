// Captures: calls on captured streams add nodes to a graph instead of issuing items.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stream/stream_table.hpp"

namespace ringlet::stream {
namespace {

thread_local int mode_of_thread = ringletCaptureGlobal;

bool IsMode(int mode) {
  return mode == ringletCaptureGlobal || mode == ringletCaptureThreadLocal ||
         mode == ringletCaptureRelaxed;
}

Answer NoSuchMode(int mode) {
  return {ringletInvalidArgument,
          fmt::format("mode is {}, not one of the three capture modes", mode)};
}

/// Returns true if `thread` may not make calls that the capture would miss.
bool IsForbidden(const CaptureState& capture, int mode, std::thread::id thread) {
  if (mode == ringletCaptureRelaxed) return false;
  if (capture.thread == thread) return capture.mode != ringletCaptureRelaxed;
  return mode == ringletCaptureGlobal && capture.mode == ringletCaptureGlobal;
}

}  // namespace

Answer StreamTable::CheckCapturing(const StreamState& stream) const {
  if (!stream.capture || !stream.capture->broken) return {};
  return {ringletCaptureInvalidated,
          "an earlier call made the capture of this stream invalid: end it and begin anew"};
}

Answer StreamTable::Capture(StreamState& stream, TaskRef task) {
  GraphState& graph = *stream.capture->graph;
  auto added = graph.graph.Add(std::move(task), stream.tips);
  if (!added.ok()) {
    Break(*stream.capture);
    return {ringletInvalidArgument, added.error().message};
  }
  NameNodes(graph);
  stream.tips = {*added};
  return {};
}

Answer StreamTable::Join(StreamState& stream, const EventState& event) {
  const CaptureRef& capture = event.capture;
  if (capture->over)
    return {ringletCapturedEvent, "the event was recorded in a capture that is over"};
  if (capture->broken)
    return {ringletCaptureInvalidated,
            "an earlier call made the capture of this event invalid: end it and begin anew"};
  if (stream.legacy) {
    Break(*capture);
    return {ringletCaptureImplicit,
            "the legacy stream cannot be captured; the capture that it was "
            "to join is invalid now"};
  }
  if (stream.capture && stream.capture != capture) {
    Break(*capture);
    Break(*stream.capture);
    return {ringletCaptureMerge,
            "the stream and the event are in two captures, which are both invalid now"};
  }
  stream.tips = stream.capture ? Union(std::move(stream.tips), event.tips) : event.tips;
  stream.capture = capture;
  return {};
}

Answer StreamTable::BeginCapture(ringletStream_t stream, int mode) {
  if (!IsMode(mode)) return NoSuchMode(mode);
  const Lock lock(mutex_);
  const StreamRef found = Find(stream);
  if (!found) return Unknown(stream, "stream");
  if (found->legacy)
    return {ringletCaptureUnsupported, "the legacy stream cannot be captured: use another one"};
  if (found->capture) return {ringletInvalidArgument, "the stream is captured already"};
  auto graph = std::make_shared<GraphState>();
  graph->in_capture = true;
  const auto handle = NextHandle<ringletGraph_t>();
  found->capture = std::make_shared<CaptureState>(CaptureState{.id = ++last_id_,
                                                               .mode = mode,
                                                               .thread = std::this_thread::get_id(),
                                                               .origin = found->handle,
                                                               .handle = handle,
                                                               .graph = graph.get()});
  found->tips.clear();
  captures_.push_back(found->capture);
  graphs_[handle] = std::move(graph);
  return {};
}

std::vector<NodeIndex> StreamTable::Leave(const CaptureRef& capture) {
  std::vector<NodeIndex> others = capture->loose;
  for (auto& [number, device] : devices_) {
    for (const StreamRef& stream : device.streams) {
      if (stream->capture != capture) continue;
      if (stream->handle != capture->origin) others = Union(std::move(others), stream->tips);
      stream->capture = nullptr;
    }
  }
  capture->over = true;
  capture->graph = nullptr;
  std::erase(captures_, capture);
  return others;
}

std::shared_ptr<GraphState> StreamTable::Withdraw(ringletGraph_t graph) {
  const auto found = graphs_.find(graph);
  std::shared_ptr<GraphState> state = std::move(found->second);
  for (const ringletGraphNode_t node : state->names) nodes_.erase(node);
  graphs_.erase(found);
  return state;
}

Answer StreamTable::EndCapture(ringletStream_t stream, ringletGraph_t* graph) {
  *graph = nullptr;
  std::shared_ptr<GraphState> dropped;  // destroyed after the lock: its end calls the program
  const Lock lock(mutex_);
  const StreamRef found = Find(stream);
  if (!found) return Unknown(stream, "stream");
  if (!found->capture) return {ringletCaptureUnmatched, "the stream is not captured"};
  const CaptureRef capture = found->capture;
  if (capture->origin != found->handle)
    return {ringletCaptureUnmatched, "the capture began on another stream: end it there"};
  if (capture->mode != ringletCaptureRelaxed && capture->thread != std::this_thread::get_id())
    return {ringletCaptureWrongThread,
            "another thread began the capture, which is not ringletCaptureRelaxed: end it there"};
  const std::vector<bool> joined = capture->graph->graph.Before(found->tips);
  const std::vector<NodeIndex> others = Leave(capture);
  const bool all_joined =
      std::all_of(others.begin(), others.end(), [&](const NodeIndex node) { return joined[node]; });
  if (!capture->broken && all_joined) {
    *graph = capture->handle;
    graphs_[*graph]->in_capture = false;
    return {};
  }
  dropped = Withdraw(capture->handle);
  if (capture->broken)
    return {ringletCaptureInvalidated, "an earlier call made the capture of this stream invalid"};
  return {ringletCaptureUnjoined,
          "the capture has work on other streams that its first stream does not wait for: record "
          "an event behind it, and have the first stream wait for that"};
}

Answer StreamTable::DescribeCapture(ringletStream_t stream, CaptureStatus* status) {
  const Lock lock(mutex_);
  const StreamRef found = Find(stream);
  if (!found) return Unknown(stream, "stream");
  *status = {};
  if (!found->capture) return {};
  if (found->capture->broken) {
    status->status = ringletCaptureBroken;
    return {};
  }
  *status = {
      .status = ringletCaptureActive, .id = found->capture->id, .graph = found->capture->handle};
  return {};
}

Answer StreamTable::GetCaptureNodes(ringletStream_t stream,
                                    std::vector<ringletGraphNode_t>* nodes) {
  const Lock lock(mutex_);
  const StreamRef found = Find(stream);
  if (!found) return Unknown(stream, "stream");
  if (!found->capture) return {ringletCaptureUnmatched, "the stream is not captured"};
  RINGLET_ANSWER(CheckCapturing(*found));
  for (const NodeIndex tip : found->tips) nodes->push_back(found->capture->graph->names[tip]);
  return {};
}

Answer StreamTable::SetCaptureNodes(ringletStream_t stream,
                                    std::span<const ringletGraphNode_t> nodes, bool adds) {
  const Lock lock(mutex_);
  const StreamRef found = Find(stream);
  if (!found) return Unknown(stream, "stream");
  if (!found->capture) return {ringletCaptureUnmatched, "the stream is not captured"};
  RINGLET_ANSWER(CheckCapturing(*found));
  std::vector<NodeIndex> indices;
  RINGLET_ANSWER(NodesOf(*found->capture->graph, nodes, &indices));
  found->tips = Union(std::move(indices), adds ? found->tips : std::vector<NodeIndex>());
  return {};
}

Answer StreamTable::CheckCapture() {
  const Lock lock(mutex_);
  bool forbidden = false;
  for (const CaptureRef& capture : captures_) {
    if (!IsForbidden(*capture, mode_of_thread, std::this_thread::get_id())) continue;
    Break(*capture);
    forbidden = true;
  }
  if (!forbidden) return {};
  return {ringletCaptureUnsupported,
          "a stream is captured, and its graph would lack this call, which takes effect at once: "
          "the capture is invalid now"};
}

Answer StreamTable::ExchangeCaptureMode(int* mode) {
  if (!IsMode(*mode)) return NoSuchMode(*mode);
  std::swap(*mode, mode_of_thread);
  return {};
}

}  // namespace ringlet::stream
