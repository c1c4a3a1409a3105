// The driver: the log of errors, to which programs listen.
#include "frontends/cuda/driver/driver_call.hpp"

namespace ringlet::cuda {

RINGLET_DRIVER_FUNCTION int cuLogsRegisterCallback(LogListeners::Function* function, void* data,
                                                   void** handle) {
  return DriverCall("cuLogsRegisterCallback", [&]() -> Answer {
    const auto added = Host().log_listeners().Add(function, data);
    if (!added.ok()) return ToAnswer(added.error());
    if (handle != nullptr) *handle = *added;
    return Done();
  });
}

RINGLET_DRIVER_FUNCTION int cuLogsUnregisterCallback(void* handle) {
  return DriverCall("cuLogsUnregisterCallback", [&]() -> Answer {
    const Status removed = Host().log_listeners().Remove(handle);
    return removed.ok() ? Done() : ToAnswer(removed.error());
  });
}

}  // namespace ringlet::cuda
