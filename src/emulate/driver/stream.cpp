// The driver: streams and events, which share handles with the runtime.
#include "emulate/driver/driver_call.hpp"

namespace ringlet::cuda {

/// A handle passed by value.
struct IpcArgument {
  IpcHandle bytes;
};

RINGLET_DRIVER_FUNCTION int cuStreamCreate(ringletStream_t* stream, unsigned flags) {
  return DriverCall("cuStreamCreate", [&] {
    return FromStream(ringletStreamCreate(stream, CurrentDevice(), flags, 0));
  });
}

RINGLET_DRIVER_FUNCTION int cuStreamCreateWithPriority(ringletStream_t* stream, unsigned flags,
                                                       int priority) {
  return DriverCall("cuStreamCreateWithPriority", [&] {
    return FromStream(ringletStreamCreate(stream, CurrentDevice(), flags, priority));
  });
}

RINGLET_DRIVER_FUNCTION int cuStreamDestroy_v2(ringletStream_t stream) {
  return DriverCall("cuStreamDestroy", [&] { return FromStream(ringletStreamDestroy(stream)); });
}

RINGLET_DRIVER_FUNCTION int cuStreamSynchronize(ringletStream_t stream) {
  return DriverCall("cuStreamSynchronize",
                    [&] { return FromStream(ringletStreamSynchronize(stream)); });
}

RINGLET_DRIVER_FUNCTION int cuStreamQuery(ringletStream_t stream) {
  return DriverCall("cuStreamQuery", [&] { return FromStream(ringletStreamQuery(stream)); });
}

RINGLET_DRIVER_FUNCTION int cuStreamWaitEvent(ringletStream_t stream, ringletEvent_t event,
                                              unsigned flags) {
  return DriverCall("cuStreamWaitEvent", [&]() -> Answer {
    if (flags != 0)
      return {CudaCode::kNotSupported, "graphs do not support nodes for external events"};
    return FromStream(ringletStreamWaitEvent(stream, event));
  });
}

RINGLET_DRIVER_FUNCTION int cuStreamGetFlags(ringletStream_t stream, unsigned* flags) {
  return DriverCall("cuStreamGetFlags",
                    [&] { return FromStream(ringletStreamGetFlags(stream, flags)); });
}

RINGLET_DRIVER_FUNCTION int cuStreamGetPriority(ringletStream_t stream, int* priority) {
  return DriverCall("cuStreamGetPriority",
                    [&] { return FromStream(ringletStreamGetPriority(stream, priority)); });
}

RINGLET_DRIVER_FUNCTION int cuStreamGetId(ringletStream_t stream, unsigned long long* id) {
  return DriverCall("cuStreamGetId", [&] { return FromStream(ringletStreamGetId(stream, id)); });
}

RINGLET_DRIVER_FUNCTION int cuStreamIsCapturing(ringletStream_t stream, int* status) {
  return DriverCall("cuStreamIsCapturing", [&] {
    return FromStream(ringletStreamCaptureStatus(stream, status, nullptr, nullptr));
  });
}

RINGLET_DRIVER_FUNCTION int cuStreamGetCtx(ringletStream_t stream, Context* context) {
  return DriverCall("cuStreamGetCtx", [&]() -> Answer {
    if (context == nullptr) return NullArgument();
    int device = 0;
    const Answer known = FromStream(ringletStreamGetDeviceOf(stream, &device));
    if (known.ok()) *context = ContextOf(device);
    return known;
  });
}

RINGLET_DRIVER_FUNCTION int cuLaunchHostFunc(ringletStream_t stream, void (*function)(void*),
                                             void* data) {
  return DriverCall("cuLaunchHostFunc",
                    [&] { return FromStream(ringletStreamLaunch(stream, function, data)); });
}

RINGLET_DRIVER_FUNCTION int cuEventCreate(ringletEvent_t* event, unsigned flags) {
  return DriverCall("cuEventCreate", [&] { return Host().shared_events().Create(event, flags); });
}

RINGLET_DRIVER_FUNCTION int cuEventDestroy_v2(ringletEvent_t event) {
  return DriverCall("cuEventDestroy", [&] { return Host().shared_events().Destroy(event); });
}

RINGLET_DRIVER_FUNCTION int cuEventRecord(ringletEvent_t event, ringletStream_t stream) {
  return DriverCall("cuEventRecord", [&] { return Host().shared_events().Record(event, stream); });
}

RINGLET_DRIVER_FUNCTION int cuEventQuery(ringletEvent_t event) {
  return DriverCall("cuEventQuery", [&] { return FromStream(ringletEventQuery(event)); });
}

RINGLET_DRIVER_FUNCTION int cuEventSynchronize(ringletEvent_t event) {
  return DriverCall("cuEventSynchronize",
                    [&] { return FromStream(ringletEventSynchronize(event)); });
}

RINGLET_DRIVER_FUNCTION int cuIpcGetEventHandle(IpcArgument* handle, ringletEvent_t event) {
  return DriverCall("cuIpcGetEventHandle", [&]() -> Answer {
    if (handle == nullptr) return NullArgument();
    return Host().shared_events().Export(event, handle->bytes);
  });
}

RINGLET_DRIVER_FUNCTION int cuIpcOpenEventHandle(ringletEvent_t* event, IpcArgument handle) {
  return DriverCall("cuIpcOpenEventHandle", [&]() -> Answer {
    if (event == nullptr) return NullArgument();
    return Host().shared_events().Open(handle.bytes, event);
  });
}

RINGLET_DRIVER_FUNCTION int cuEventElapsedTime(float* milliseconds, ringletEvent_t start,
                                               ringletEvent_t end) {
  return DriverCall("cuEventElapsedTime",
                    [&] { return FromStream(ringletEventElapsedTime(milliseconds, start, end)); });
}

RINGLET_DRIVER_FUNCTION int cuEventElapsedTime_v2(float* milliseconds, ringletEvent_t start,
                                                  ringletEvent_t end) {
  return cuEventElapsedTime(milliseconds, start, end);
}

}  // namespace ringlet::cuda
