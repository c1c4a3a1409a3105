// Streams and their capture.
#include <fmt/format.h>

#include <vector>

#include "emulate/runtime/call.hpp"

namespace ringlet::cuda {
namespace {

using HostFunction = void(void*);
using StreamCallback = void(ringletStream_t, int, void*);

Answer Create(ringletStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr) return IsNull("pStream");
  return FromStream(ringletStreamCreate(stream, CurrentDevice(), flags, priority));
}

/// Outputs of cudaStreamGetCaptureInfo; each may be NULL.
struct CaptureOutputs {
  int* status;
  unsigned long long* id;
  ringletGraph_t* graph;
  const ringletGraphNode_t** nodes;
  const void** edges;
  std::size_t* count;
};

// CUDA's node array is valid until the next call for the stream; this one, for the thread.
Answer CopyNodes(ringletStream_t stream, const CaptureOutputs& out) {
  thread_local std::vector<ringletGraphNode_t> nodes;
  std::size_t count = 0;
  Answer known = FromStream(ringletStreamGetCaptureNodes(stream, nullptr, &count));
  if (!known.ok()) return known;
  nodes.resize(count);
  if (count > 0) known = FromStream(ringletStreamGetCaptureNodes(stream, nodes.data(), &count));
  if (out.nodes != nullptr) *out.nodes = nodes.data();
  if (out.count != nullptr) *out.count = count;
  return known;
}

int CaptureInfo(const char* function, ringletStream_t stream, const CaptureOutputs& out) {
  return Call(function, [&]() -> Answer {
    if (out.status == nullptr) return IsNull("captureStatus_out");
    const Answer known =
        FromStream(ringletStreamCaptureStatus(stream, out.status, out.id, out.graph));
    if (!known.ok() || *out.status != ringletCaptureActive) return known;
    if (out.edges != nullptr) *out.edges = nullptr;  // all have the default kind
    return out.nodes != nullptr || out.count != nullptr ? CopyNodes(stream, out) : known;
  });
}

int UpdateNodes(const char* function, ringletStream_t stream, const ringletGraphNode_t* nodes,
                const void* edges, std::size_t count, unsigned flags) {
  return Call(function, [&]() -> Answer {
    if (flags > 1) return Invalid("flags is neither add nor set");
    if (edges != nullptr)
      return {CudaCode::kNotSupported,
              "edge data is unsupported: it describes kernels that start early"};
    return FromStream(ringletStreamSetCaptureNodes(stream, nodes, count, flags == 0 ? 1 : 0));
  });
}

}  // namespace

RINGLET_CUDA_FUNCTION int cudaStreamCreate(ringletStream_t* stream) {
  return Call("cudaStreamCreate", [&] { return Create(stream, 0, 0); });
}

RINGLET_CUDA_FUNCTION int cudaStreamCreateWithFlags(ringletStream_t* stream, unsigned flags) {
  return Call("cudaStreamCreateWithFlags", [&] { return Create(stream, flags, 0); });
}

RINGLET_CUDA_FUNCTION int cudaStreamCreateWithPriority(ringletStream_t* stream, unsigned flags,
                                                       int priority) {
  return Call("cudaStreamCreateWithPriority", [&] { return Create(stream, flags, priority); });
}

RINGLET_CUDA_FUNCTION int cudaStreamDestroy(ringletStream_t stream) {
  return Call("cudaStreamDestroy", [&] { return FromStream(ringletStreamDestroy(stream)); });
}

RINGLET_CUDA_FUNCTION int cudaStreamQuery(ringletStream_t stream) {
  return Call("cudaStreamQuery", [&] { return FromStream(ringletStreamQuery(stream)); });
}

RINGLET_CUDA_FUNCTION int cudaStreamSynchronize(ringletStream_t stream) {
  return Call("cudaStreamSynchronize",
              [&] { return FromStream(ringletStreamSynchronize(stream)); });
}

RINGLET_CUDA_FUNCTION int cudaStreamWaitEvent(ringletStream_t stream, ringletEvent_t event,
                                              unsigned flags) {
  return Call("cudaStreamWaitEvent", [&]() -> Answer {
    if (flags > 1) return Invalid("unknown flags");
    if (flags == 1 && Captures(stream))
      return {CudaCode::kNotSupported, "graphs do not support nodes for external events"};
    return FromStream(ringletStreamWaitEvent(stream, event));
  });
}

RINGLET_CUDA_FUNCTION int cudaLaunchHostFunc(ringletStream_t stream, HostFunction* function,
                                             void* data) {
  return Call("cudaLaunchHostFunc", [&]() -> Answer {
    if (function == nullptr) return IsNull("fn");
    return FromStream(ringletStreamLaunch(stream, function, data));
  });
}

RINGLET_CUDA_FUNCTION int cudaStreamAddCallback(ringletStream_t stream, StreamCallback* callback,
                                                void* data, unsigned flags) {
  return Call("cudaStreamAddCallback", [&]() -> Answer {
    if (callback == nullptr) return IsNull("callback");
    if (flags != 0) return Invalid("flags is not 0");
    if (Captures(stream))
      return {CudaCode::kCaptureUnsupported,
              "callbacks cannot be captured: use cudaLaunchHostFunc"};
    return Enqueue(stream, [=] { callback(stream, 0, data); });
  });
}

RINGLET_CUDA_FUNCTION int cudaStreamGetFlags(ringletStream_t stream, unsigned* flags) {
  return Call("cudaStreamGetFlags",
              [&] { return FromStream(ringletStreamGetFlags(stream, flags)); });
}

RINGLET_CUDA_FUNCTION int cudaStreamGetPriority(ringletStream_t stream, int* priority) {
  return Call("cudaStreamGetPriority",
              [&] { return FromStream(ringletStreamGetPriority(stream, priority)); });
}

RINGLET_CUDA_FUNCTION int cudaStreamGetId(ringletStream_t stream, unsigned long long* id) {
  return Call("cudaStreamGetId", [&] { return FromStream(ringletStreamGetId(stream, id)); });
}

RINGLET_CUDA_FUNCTION int cudaStreamGetDevice(ringletStream_t stream, int* device) {
  return Call("cudaStreamGetDevice",
              [&] { return FromStream(ringletStreamGetDeviceOf(stream, device)); });
}

RINGLET_CUDA_FUNCTION int cudaStreamBeginCapture(ringletStream_t stream, int mode) {
  return Call("cudaStreamBeginCapture",
              [&] { return FromStream(ringletStreamBeginCapture(stream, mode)); });
}

RINGLET_CUDA_FUNCTION int cudaStreamEndCapture(ringletStream_t stream, ringletGraph_t* graph) {
  return Call("cudaStreamEndCapture",
              [&] { return FromStream(ringletStreamEndCapture(stream, graph)); });
}

RINGLET_CUDA_FUNCTION int cudaStreamIsCapturing(ringletStream_t stream, int* status) {
  return CaptureInfo("cudaStreamIsCapturing", stream,
                     {status, nullptr, nullptr, nullptr, nullptr, nullptr});
}

RINGLET_CUDA_FUNCTION int cudaThreadExchangeStreamCaptureMode(int* mode) {
  return Call("cudaThreadExchangeStreamCaptureMode",
              [&] { return FromStream(ringletStreamExchangeCaptureMode(mode)); });
}

#if RINGLET_CUDART >= 13
RINGLET_CUDA_FUNCTION int cudaStreamGetCaptureInfo(ringletStream_t stream, int* status,
                                                   unsigned long long* id, ringletGraph_t* graph,
                                                   const ringletGraphNode_t** nodes,
                                                   const void** edges, std::size_t* count) {
  return CaptureInfo("cudaStreamGetCaptureInfo", stream, {status, id, graph, nodes, edges, count});
}

RINGLET_CUDA_FUNCTION int cudaStreamUpdateCaptureDependencies(ringletStream_t stream,
                                                              const ringletGraphNode_t* nodes,
                                                              const void* edges, std::size_t count,
                                                              unsigned flags) {
  return UpdateNodes("cudaStreamUpdateCaptureDependencies", stream, nodes, edges, count, flags);
}
#else
RINGLET_CUDA_FUNCTION int cudaStreamGetCaptureInfo(ringletStream_t stream, int* status,
                                                   unsigned long long* id) {
  return CaptureInfo("cudaStreamGetCaptureInfo", stream,
                     {status, id, nullptr, nullptr, nullptr, nullptr});
}

RINGLET_CUDA_FUNCTION int cudaStreamGetCaptureInfo_v2(ringletStream_t stream, int* status,
                                                      unsigned long long* id, ringletGraph_t* graph,
                                                      const ringletGraphNode_t** nodes,
                                                      std::size_t* count) {
  return CaptureInfo("cudaStreamGetCaptureInfo", stream,
                     {status, id, graph, nodes, nullptr, count});
}

RINGLET_CUDA_FUNCTION int cudaStreamGetCaptureInfo_v3(ringletStream_t stream, int* status,
                                                      unsigned long long* id, ringletGraph_t* graph,
                                                      const ringletGraphNode_t** nodes,
                                                      const void** edges, std::size_t* count) {
  return CaptureInfo("cudaStreamGetCaptureInfo", stream, {status, id, graph, nodes, edges, count});
}

RINGLET_CUDA_FUNCTION int cudaStreamUpdateCaptureDependencies(ringletStream_t stream,
                                                              const ringletGraphNode_t* nodes,
                                                              std::size_t count, unsigned flags) {
  return UpdateNodes("cudaStreamUpdateCaptureDependencies", stream, nodes, nullptr, count, flags);
}

RINGLET_CUDA_FUNCTION int cudaStreamUpdateCaptureDependencies_v2(ringletStream_t stream,
                                                                 const ringletGraphNode_t* nodes,
                                                                 const void* edges,
                                                                 std::size_t count,
                                                                 unsigned flags) {
  return UpdateNodes("cudaStreamUpdateCaptureDependencies", stream, nodes, edges, count, flags);
}
#endif

}  // namespace ringlet::cuda
