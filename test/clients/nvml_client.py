"""Runs nvidia-ml-py on a named machine: GPUs, links and PCI facts of a host with 8 H100."""
import pynvml as nvml

LINKS = 18

def expect(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r} is not {wanted!r}")


def expect_refused(function, *arguments):
    try:
        function(*arguments)
    except nvml.NVMLError_NotSupported:
        return
    raise AssertionError(f"{function.__name__} did not refuse")


nvml.nvmlInit()
devices = [nvml.nvmlDeviceGetHandleByIndex(number) for number in range(nvml.nvmlDeviceGetCount())]
expect(len(devices), 8)
addresses = [nvml.nvmlDeviceGetPciInfo(device).busId for device in devices]
expect(len(set(addresses)), 8)
expect(len({nvml.nvmlDeviceGetUUID(device) for device in devices}), 8)
for number, device in enumerate(devices):
    expect(nvml.nvmlDeviceGetName(device), "NVIDIA H100 80GB HBM3")
    expect(nvml.nvmlDeviceGetCudaComputeCapability(device), (9, 0))
    expect(nvml.nvmlDeviceGetArchitecture(device), nvml.NVML_DEVICE_ARCH_HOPPER)
    expect(nvml.nvmlDeviceGetCurrPcieLinkGeneration(device), 5)
    expect(nvml.nvmlDeviceGetCurrPcieLinkWidth(device), 16)
    expect(nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleByPciBusId(addresses[number])), number)
    expect(list(nvml.nvmlDeviceGetMemoryAffinity(device, 1, nvml.NVML_AFFINITY_SCOPE_NODE)), [1 << number // 4])
    switches = set()
    for link in range(LINKS):
        expect(nvml.nvmlDeviceGetNvLinkState(device, link), 1)
        expect(nvml.nvmlDeviceGetNvLinkCapability(device, link, nvml.NVML_NVLINK_CAP_P2P_SUPPORTED), 1)
        expect(nvml.nvmlDeviceGetNvLinkRemoteDeviceType(device, link), nvml.NVML_NVLINK_DEVICE_TYPE_SWITCH)
        switches.add(nvml.nvmlDeviceGetNvLinkRemotePciInfo(device, link).busId)
    expect(len(switches), 4)
    memory = nvml.nvmlDeviceGetMemoryInfo(device)
    expect((memory.total, memory.used), (80 << 30, 0))
    fields = nvml.nvmlDeviceGetFieldValues(device, [nvml.NVML_FI_DEV_NVLINK_LINK_COUNT])
    expect((fields[0].nvmlReturn, fields[0].value.uiVal), (0, LINKS))
    expect_refused(nvml.nvmlDeviceGetPowerUsage, device)
    expect_refused(nvml.nvmlDeviceGetMigMode, device)
expect(nvml.nvmlDeviceGetP2PStatus(devices[0], devices[7], nvml.NVML_P2P_CAPS_INDEX_NVLINK),
       nvml.NVML_P2P_STATUS_OK)
expect(nvml.nvmlDeviceGetTopologyCommonAncestor(devices[0], devices[1]), nvml.NVML_TOPOLOGY_NODE)
expect(nvml.nvmlDeviceGetTopologyCommonAncestor(devices[0], devices[4]), nvml.NVML_TOPOLOGY_SYSTEM)
nvml.nvmlShutdown()
print("nvidia-ml-py: 8 devices right")
