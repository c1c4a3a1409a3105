// Events.
#include "emulate/runtime/call.hpp"

namespace ringlet::cuda {
namespace {

Answer Create(ringletEvent_t* event, unsigned flags) {
  if (event == nullptr) return IsNull("event");
  return Host().shared_events().Create(event, flags);
}

Answer Elapsed(float* milliseconds, ringletEvent_t start, ringletEvent_t end) {
  if (milliseconds == nullptr) return IsNull("ms");
  return FromStream(ringletEventElapsedTime(milliseconds, start, end));
}

}  // namespace

RINGLET_CUDA_FUNCTION int cudaEventCreate(ringletEvent_t* event) {
  return Call("cudaEventCreate", [&] { return Create(event, 0); });
}

RINGLET_CUDA_FUNCTION int cudaEventCreateWithFlags(ringletEvent_t* event, unsigned flags) {
  return Call("cudaEventCreateWithFlags", [&] { return Create(event, flags); });
}

RINGLET_CUDA_FUNCTION int cudaEventDestroy(ringletEvent_t event) {
  return Call("cudaEventDestroy", [&] { return Host().shared_events().Destroy(event); });
}

RINGLET_CUDA_FUNCTION int cudaEventRecord(ringletEvent_t event, ringletStream_t stream) {
  return Call("cudaEventRecord", [&] { return Host().shared_events().Record(event, stream); });
}

RINGLET_CUDA_FUNCTION int cudaEventRecordWithFlags(ringletEvent_t event, ringletStream_t stream,
                                                   unsigned flags) {
  return Call("cudaEventRecordWithFlags", [&]() -> Answer {
    if (flags > 1) return Invalid("unknown flags");
    if (flags == 1 && Captures(stream))
      return {CudaCode::kNotSupported, "graphs do not support nodes for external events"};
    return Host().shared_events().Record(event, stream);
  });
}

RINGLET_CUDA_FUNCTION int cudaEventQuery(ringletEvent_t event) {
  return Call("cudaEventQuery", [&] { return FromStream(ringletEventQuery(event)); });
}

RINGLET_CUDA_FUNCTION int cudaEventSynchronize(ringletEvent_t event) {
  return Call("cudaEventSynchronize", [&] { return FromStream(ringletEventSynchronize(event)); });
}

RINGLET_CUDA_FUNCTION int cudaEventElapsedTime(float* milliseconds, ringletEvent_t start,
                                               ringletEvent_t end) {
  return Call("cudaEventElapsedTime", [&] { return Elapsed(milliseconds, start, end); });
}

RINGLET_CUDA_FUNCTION int cudaIpcGetEventHandle(IpcBytes* handle, ringletEvent_t event) {
  return Call("cudaIpcGetEventHandle", [&]() -> Answer {
    if (handle == nullptr) return IsNull("handle");
    return Host().shared_events().Export(event, handle->bytes);
  });
}

RINGLET_CUDA_FUNCTION int cudaIpcOpenEventHandle(ringletEvent_t* event, IpcBytes handle) {
  return Call("cudaIpcOpenEventHandle", [&]() -> Answer {
    if (event == nullptr) return IsNull("event");
    return Host().shared_events().Open(handle.bytes, event);
  });
}

#if RINGLET_CUDART < 13
RINGLET_CUDA_FUNCTION int cudaEventElapsedTime_v2(float* milliseconds, ringletEvent_t start,
                                                  ringletEvent_t end) {
  return Call("cudaEventElapsedTime", [&] { return Elapsed(milliseconds, start, end); });
}
#endif

}  // namespace ringlet::cuda
