#include "emulate/host/cuda_code.hpp"

#include <algorithm>
#include <array>

namespace ringlet::cuda {
namespace {

/// The names of a number; null if the runtime or the driver lacks it.
struct CodeRow {
  int number;
  const char* name;
  const char* driver_name;
  const char* text;
};

// Names and numbers of CUDA 12 and 13; the texts are Ringlet's.
constexpr std::array kCodes = {
    CodeRow{0, "cudaSuccess", "CUDA_SUCCESS", "no error"},
    CodeRow{1, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE", "an argument is invalid"},
    CodeRow{2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    CodeRow{3, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED",
            "the host devices cannot be set up"},
    CodeRow{4, "cudaErrorCudartUnloading", "CUDA_ERROR_DEINITIALIZED", "cudart unloading"},
    CodeRow{5, "cudaErrorProfilerDisabled", "CUDA_ERROR_PROFILER_DISABLED", "profiler disabled"},
    CodeRow{6, "cudaErrorProfilerNotInitialized", "CUDA_ERROR_PROFILER_NOT_INITIALIZED",
            "profiler not initialized"},
    CodeRow{7, "cudaErrorProfilerAlreadyStarted", "CUDA_ERROR_PROFILER_ALREADY_STARTED",
            "profiler already started"},
    CodeRow{8, "cudaErrorProfilerAlreadyStopped", "CUDA_ERROR_PROFILER_ALREADY_STOPPED",
            "profiler already stopped"},
    CodeRow{9, "cudaErrorInvalidConfiguration", nullptr,
            "the configuration of a launch is invalid"},
    CodeRow{12, "cudaErrorInvalidPitchValue", nullptr, "a pitch is invalid"},
    CodeRow{13, "cudaErrorInvalidSymbol", nullptr, "a symbol is not known"},
    CodeRow{16, "cudaErrorInvalidHostPointer", nullptr, "invalid host pointer"},
    CodeRow{17, "cudaErrorInvalidDevicePointer", nullptr,
            "the memory does not belong to a device, or was freed"},
    CodeRow{18, "cudaErrorInvalidTexture", nullptr, "invalid texture"},
    CodeRow{19, "cudaErrorInvalidTextureBinding", nullptr, "invalid texture binding"},
    CodeRow{20, "cudaErrorInvalidChannelDescriptor", nullptr, "invalid channel descriptor"},
    CodeRow{21, "cudaErrorInvalidMemcpyDirection", nullptr, "the direction of a copy is invalid"},
    CodeRow{22, "cudaErrorAddressOfConstant", nullptr, "address of constant"},
    CodeRow{23, "cudaErrorTextureFetchFailed", nullptr, "texture fetch failed"},
    CodeRow{24, "cudaErrorTextureNotBound", nullptr, "texture not bound"},
    CodeRow{25, "cudaErrorSynchronizationError", nullptr, "synchronization error"},
    CodeRow{26, "cudaErrorInvalidFilterSetting", nullptr, "invalid filter setting"},
    CodeRow{27, "cudaErrorInvalidNormSetting", nullptr, "invalid norm setting"},
    CodeRow{28, "cudaErrorMixedDeviceExecution", nullptr, "mixed device execution"},
    CodeRow{31, "cudaErrorNotYetImplemented", nullptr, "not yet implemented"},
    CodeRow{32, "cudaErrorMemoryValueTooLarge", nullptr, "memory value too large"},
    CodeRow{34, "cudaErrorStubLibrary", "CUDA_ERROR_STUB_LIBRARY", "stub library"},
    CodeRow{35, "cudaErrorInsufficientDriver", nullptr, "insufficient driver"},
    CodeRow{36, "cudaErrorCallRequiresNewerDriver", "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
            "call requires newer driver"},
    CodeRow{37, "cudaErrorInvalidSurface", nullptr, "invalid surface"},
    CodeRow{43, "cudaErrorDuplicateVariableName", nullptr, "duplicate variable name"},
    CodeRow{44, "cudaErrorDuplicateTextureName", nullptr, "duplicate texture name"},
    CodeRow{45, "cudaErrorDuplicateSurfaceName", nullptr, "duplicate surface name"},
    CodeRow{46, "cudaErrorDevicesUnavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE",
            "devices unavailable"},
    CodeRow{49, "cudaErrorIncompatibleDriverContext", nullptr, "incompatible driver context"},
    CodeRow{52, "cudaErrorMissingConfiguration", nullptr, "missing configuration"},
    CodeRow{53, "cudaErrorPriorLaunchFailure", nullptr, "prior launch failure"},
    CodeRow{65, "cudaErrorLaunchMaxDepthExceeded", nullptr, "launch max depth exceeded"},
    CodeRow{66, "cudaErrorLaunchFileScopedTex", nullptr, "launch file scoped tex"},
    CodeRow{67, "cudaErrorLaunchFileScopedSurf", nullptr, "launch file scoped surf"},
    CodeRow{68, "cudaErrorSyncDepthExceeded", nullptr, "sync depth exceeded"},
    CodeRow{69, "cudaErrorLaunchPendingCountExceeded", nullptr, "launch pending count exceeded"},
    CodeRow{98, "cudaErrorInvalidDeviceFunction", nullptr,
            "no host function is registered for this kernel"},
    CodeRow{100, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE", "no device exists"},
    CodeRow{101, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE",
            "the device does not exist"},
    CodeRow{102, "cudaErrorDeviceNotLicensed", "CUDA_ERROR_DEVICE_NOT_LICENSED",
            "device not licensed"},
    CodeRow{103, "cudaErrorSoftwareValidityNotEstablished", nullptr,
            "software validity not established"},
    CodeRow{127, "cudaErrorStartupFailure", nullptr, "startup failure"},
    CodeRow{200, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE", "invalid kernel image"},
    CodeRow{201, "cudaErrorDeviceUninitialized", "CUDA_ERROR_INVALID_CONTEXT",
            "the memory cannot be opened by the process that exported it"},
    CodeRow{202, nullptr, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", "context already current"},
    CodeRow{205, "cudaErrorMapBufferObjectFailed", "CUDA_ERROR_MAP_FAILED",
            "memory of another process cannot be mapped"},
    CodeRow{206, "cudaErrorUnmapBufferObjectFailed", "CUDA_ERROR_UNMAP_FAILED",
            "unmap buffer object failed"},
    CodeRow{207, "cudaErrorArrayIsMapped", "CUDA_ERROR_ARRAY_IS_MAPPED", "array is mapped"},
    CodeRow{208, "cudaErrorAlreadyMapped", "CUDA_ERROR_ALREADY_MAPPED", "already mapped"},
    CodeRow{209, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU",
            "no kernel image for device"},
    CodeRow{210, "cudaErrorAlreadyAcquired", "CUDA_ERROR_ALREADY_ACQUIRED", "already acquired"},
    CodeRow{211, "cudaErrorNotMapped", "CUDA_ERROR_NOT_MAPPED", "not mapped"},
    CodeRow{212, "cudaErrorNotMappedAsArray", "CUDA_ERROR_NOT_MAPPED_AS_ARRAY",
            "not mapped as array"},
    CodeRow{213, "cudaErrorNotMappedAsPointer", "CUDA_ERROR_NOT_MAPPED_AS_POINTER",
            "not mapped as pointer"},
    CodeRow{214, "cudaErrorECCUncorrectable", "CUDA_ERROR_ECC_UNCORRECTABLE", "ecc uncorrectable"},
    CodeRow{215, "cudaErrorUnsupportedLimit", "CUDA_ERROR_UNSUPPORTED_LIMIT",
            "the limit is not supported"},
    CodeRow{216, "cudaErrorDeviceAlreadyInUse", "CUDA_ERROR_CONTEXT_ALREADY_IN_USE",
            "device already in use"},
    CodeRow{217, "cudaErrorPeerAccessUnsupported", "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
            "devices cannot reach each other"},
    CodeRow{218, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX", "invalid ptx"},
    CodeRow{219, "cudaErrorInvalidGraphicsContext", "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT",
            "invalid graphics context"},
    CodeRow{220, "cudaErrorNvlinkUncorrectable", "CUDA_ERROR_NVLINK_UNCORRECTABLE",
            "nvlink uncorrectable"},
    CodeRow{221, "cudaErrorJitCompilerNotFound", "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
            "jit compiler not found"},
    CodeRow{222, "cudaErrorUnsupportedPtxVersion", "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            "unsupported ptx version"},
    CodeRow{223, "cudaErrorJitCompilationDisabled", "CUDA_ERROR_JIT_COMPILATION_DISABLED",
            "jit compilation disabled"},
    CodeRow{224, "cudaErrorUnsupportedExecAffinity", "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY",
            "unsupported exec affinity"},
    CodeRow{225, "cudaErrorUnsupportedDevSideSync", "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC",
            "unsupported dev side sync"},
    CodeRow{226, "cudaErrorContained", "CUDA_ERROR_CONTAINED", "contained"},
    CodeRow{300, "cudaErrorInvalidSource", "CUDA_ERROR_INVALID_SOURCE", "invalid source"},
    CodeRow{301, "cudaErrorFileNotFound", "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    CodeRow{302, "cudaErrorSharedObjectSymbolNotFound", "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND",
            "shared object symbol not found"},
    CodeRow{303, "cudaErrorSharedObjectInitFailed", "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
            "shared object init failed"},
    CodeRow{304, "cudaErrorOperatingSystem", "CUDA_ERROR_OPERATING_SYSTEM",
            "a call of the operating system failed"},
    CodeRow{400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE",
            "a handle is not valid: never created, destroyed, or of another kind"},
    CodeRow{401, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE", "illegal state"},
    CodeRow{402, "cudaErrorLossyQuery", "CUDA_ERROR_LOSSY_QUERY", "lossy query"},
    CodeRow{500, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND", "a symbol was not found"},
    CodeRow{600, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY", "work has not finished"},
    CodeRow{700, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS", "illegal address"},
    CodeRow{701, "cudaErrorLaunchOutOfResources", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
            "launch out of resources"},
    CodeRow{702, "cudaErrorLaunchTimeout", "CUDA_ERROR_LAUNCH_TIMEOUT", "launch timeout"},
    CodeRow{703, "cudaErrorLaunchIncompatibleTexturing", "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING",
            "launch incompatible texturing"},
    CodeRow{704, "cudaErrorPeerAccessAlreadyEnabled", "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
            "access to the peer is enabled already"},
    CodeRow{705, "cudaErrorPeerAccessNotEnabled", "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
            "access to the peer is not enabled"},
    CodeRow{708, "cudaErrorSetOnActiveProcess", "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
            "set on active process"},
    CodeRow{709, "cudaErrorContextIsDestroyed", "CUDA_ERROR_CONTEXT_IS_DESTROYED",
            "context is destroyed"},
    CodeRow{710, "cudaErrorAssert", "CUDA_ERROR_ASSERT", "assert"},
    CodeRow{711, "cudaErrorTooManyPeers", "CUDA_ERROR_TOO_MANY_PEERS", "too many peers"},
    CodeRow{712, "cudaErrorHostMemoryAlreadyRegistered",
            "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "the host memory is registered already"},
    CodeRow{713, "cudaErrorHostMemoryNotRegistered", "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
            "the host memory is not registered"},
    CodeRow{714, "cudaErrorHardwareStackError", "CUDA_ERROR_HARDWARE_STACK_ERROR",
            "hardware stack error"},
    CodeRow{715, "cudaErrorIllegalInstruction", "CUDA_ERROR_ILLEGAL_INSTRUCTION",
            "illegal instruction"},
    CodeRow{716, "cudaErrorMisalignedAddress", "CUDA_ERROR_MISALIGNED_ADDRESS",
            "misaligned address"},
    CodeRow{717, "cudaErrorInvalidAddressSpace", "CUDA_ERROR_INVALID_ADDRESS_SPACE",
            "invalid address space"},
    CodeRow{718, "cudaErrorInvalidPc", "CUDA_ERROR_INVALID_PC", "invalid pc"},
    CodeRow{719, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED",
            "an earlier item of the stream failed"},
    CodeRow{720, "cudaErrorCooperativeLaunchTooLarge", "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
            "cooperative launch too large"},
    CodeRow{721, "cudaErrorTensorMemoryLeak", "CUDA_ERROR_TENSOR_MEMORY_LEAK",
            "tensor memory leak"},
    CodeRow{800, "cudaErrorNotPermitted", "CUDA_ERROR_NOT_PERMITTED", "not permitted"},
    CodeRow{801, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED",
            "not supported on host devices"},
    CodeRow{802, "cudaErrorSystemNotReady", "CUDA_ERROR_SYSTEM_NOT_READY", "system not ready"},
    CodeRow{803, "cudaErrorSystemDriverMismatch", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            "system driver mismatch"},
    CodeRow{804, "cudaErrorCompatNotSupportedOnDevice", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
            "compat not supported on device"},
    CodeRow{805, "cudaErrorMpsConnectionFailed", "CUDA_ERROR_MPS_CONNECTION_FAILED",
            "mps connection failed"},
    CodeRow{806, "cudaErrorMpsRpcFailure", "CUDA_ERROR_MPS_RPC_FAILURE", "mps rpc failure"},
    CodeRow{807, "cudaErrorMpsServerNotReady", "CUDA_ERROR_MPS_SERVER_NOT_READY",
            "mps server not ready"},
    CodeRow{808, "cudaErrorMpsMaxClientsReached", "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
            "mps max clients reached"},
    CodeRow{809, "cudaErrorMpsMaxConnectionsReached", "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
            "mps max connections reached"},
    CodeRow{810, "cudaErrorMpsClientTerminated", "CUDA_ERROR_MPS_CLIENT_TERMINATED",
            "mps client terminated"},
    CodeRow{811, "cudaErrorCdpNotSupported", "CUDA_ERROR_CDP_NOT_SUPPORTED", "cdp not supported"},
    CodeRow{812, "cudaErrorCdpVersionMismatch", "CUDA_ERROR_CDP_VERSION_MISMATCH",
            "cdp version mismatch"},
    CodeRow{900, "cudaErrorStreamCaptureUnsupported", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
            "not permitted while a stream is capturing"},
    CodeRow{901, "cudaErrorStreamCaptureInvalidated", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
            "the capture was invalidated by an earlier error"},
    CodeRow{902, "cudaErrorStreamCaptureMerge", "CUDA_ERROR_STREAM_CAPTURE_MERGE",
            "stream capture merge"},
    CodeRow{903, "cudaErrorStreamCaptureUnmatched", "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
            "the capture was not begun on this stream"},
    CodeRow{904, "cudaErrorStreamCaptureUnjoined", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
            "stream capture unjoined"},
    CodeRow{905, "cudaErrorStreamCaptureIsolation", "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
            "stream capture isolation"},
    CodeRow{906, "cudaErrorStreamCaptureImplicit", "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
            "stream capture implicit"},
    CodeRow{907, "cudaErrorCapturedEvent", "CUDA_ERROR_CAPTURED_EVENT", "captured event"},
    CodeRow{908, "cudaErrorStreamCaptureWrongThread", "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
            "stream capture wrong thread"},
    CodeRow{909, "cudaErrorTimeout", "CUDA_ERROR_TIMEOUT", "timeout"},
    CodeRow{910, "cudaErrorGraphExecUpdateFailure", "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
            "graph exec update failure"},
    CodeRow{911, "cudaErrorExternalDevice", "CUDA_ERROR_EXTERNAL_DEVICE", "external device"},
    CodeRow{912, "cudaErrorInvalidClusterSize", "CUDA_ERROR_INVALID_CLUSTER_SIZE",
            "invalid cluster size"},
    CodeRow{913, "cudaErrorFunctionNotLoaded", "CUDA_ERROR_FUNCTION_NOT_LOADED",
            "function not loaded"},
    CodeRow{914, "cudaErrorInvalidResourceType", "CUDA_ERROR_INVALID_RESOURCE_TYPE",
            "invalid resource type"},
    CodeRow{915, "cudaErrorInvalidResourceConfiguration",
            "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "invalid resource configuration"},
    CodeRow{916, nullptr, "CUDA_ERROR_KEY_ROTATION", "key rotation"},
    CodeRow{917, "cudaErrorStreamDetached", nullptr, "stream detached"},
    CodeRow{999, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const CodeRow* Find(int code) {
  const auto at = std::ranges::lower_bound(kCodes, code, {}, &CodeRow::number);
  return at != kCodes.end() && at->number == code ? &*at : nullptr;
}

}  // namespace

const char* NameOf(int code) {
  const CodeRow* const row = Find(code);
  return row != nullptr && row->name != nullptr ? row->name : "unrecognized error code";
}

const char* TextOf(int code) {
  const CodeRow* const row = Find(code);
  return row != nullptr ? row->text : "unrecognized error code";
}

const char* DriverNameOf(int code) {
  const CodeRow* const row = Find(code);
  return row != nullptr ? row->driver_name : nullptr;
}

Answer ToAnswer(const Error& error, CudaCode invalid) {
  CudaCode code = CudaCode::kUnknown;
  switch (error.code) {
    case Code::kInvalidArgument: code = invalid; break;
    case Code::kUnsupported: code = CudaCode::kNotSupported; break;
    case Code::kSystem: code = CudaCode::kMemoryAllocation; break;
    case Code::kProtocol:
    case Code::kPeerLost: code = CudaCode::kMapFailed; break;
    case Code::kTimeout:
    case Code::kAborted: code = CudaCode::kUnknown; break;
  }
  return {code, error.message};
}

}  // namespace ringlet::cuda
