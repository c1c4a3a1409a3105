// libnvidia-ml.so.1: functions for sensors, counters and states that a device lacks. Programs that
// monitor GPUs call all of them and show "N/A" for a device that does not support one.
#include "emulate/management/nvml_call.hpp"

// The arguments after the device differ among functions; all are ignored.
#define RINGLET_NVML_NOT_SUPPORTED(name)                                             \
  RINGLET_NVML_FUNCTION int name(NvmlDevice device) {                                \
    return OfDevice(device, [](std::uint32_t) -> int { return kNvmlNotSupported; }); \
  }                                                                                  \
  static_assert(true)

namespace ringlet::cuda {

RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetApplicationsClock);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetBAR1MemoryInfo);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetBrand);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetClockInfo);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetComputeMode);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetComputeRunningProcesses);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetComputeRunningProcesses_v2);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetComputeRunningProcesses_v3);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetCurrentClocksEventReasons);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetCurrentClocksThrottleReasons);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetDecoderUtilization);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetDisplayActive);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetDisplayMode);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetDriverModel);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetDriverModel_v2);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetEccMode);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetEncoderUtilization);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetEnforcedPowerLimit);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetFanSpeed);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetFanSpeed_v2);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetGraphicsRunningProcesses);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetGraphicsRunningProcesses_v2);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetGraphicsRunningProcesses_v3);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetMaxClockInfo);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetMemoryErrorCounter);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetMigMode);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetNumFans);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetPcieReplayCounter);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetPcieThroughput);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetPerformanceState);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetPersistenceMode);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetPowerManagementLimit);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetPowerState);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetPowerUsage);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetProcessUtilization);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetSerial);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetTemperature);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetTemperatureThreshold);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetTemperatureV);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetTotalEccErrors);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetTotalEnergyConsumption);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetUtilizationRates);
RINGLET_NVML_NOT_SUPPORTED(nvmlDeviceGetVbiosVersion);

}  // namespace ringlet::cuda
