// The results of CUDA's functions: numbers, names and texts. Pure.
#pragma once
#include <string>

#include "ringlet/export.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cuda {

/// Numbers of the runtime (cudaError_t). The driver (CUresult) has the same.
enum class CudaCode : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInitialization = 3,
  kInvalidConfiguration = 9,
  kInvalidPitch = 12,
  kInvalidSymbol = 13,
  kInvalidDevicePointer = 17,
  kInvalidMemcpyDirection = 21,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kDeviceUninitialized = 201,
  kMapFailed = 205,
  kUnsupportedLimit = 215,
  kPeerAccessUnsupported = 217,
  kOperatingSystem = 304,
  kInvalidHandle = 400,
  kSymbolNotFound = 500,
  kNotReady = 600,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kLaunchFailure = 719,
  kNotPermitted = 800,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
  kUnknown = 999,
};

/// "cudaErrorInvalidValue"; "unrecognized error code" for an unknown number. Static storage.
RINGLET_API const char* NameOf(int code);
/// Returns a sentence for cudaGetErrorString. Static storage.
RINGLET_API const char* TextOf(int code);
/// The driver's name, "CUDA_ERROR_INVALID_VALUE"; null for an unknown number. Static storage.
RINGLET_API const char* DriverNameOf(int code);

/// The result of a function, with a sentence for the log.
struct [[nodiscard]] Answer {
  CudaCode code = CudaCode::kSuccess;
  std::string sentence = {};
  bool ok() const { return code == CudaCode::kSuccess; }
};

inline Answer Done() {
  return {};
}
/// Converts Ringlet's error to CUDA's number. \param invalid  for an invalid argument
RINGLET_API Answer ToAnswer(const Error& error, CudaCode invalid = CudaCode::kInvalidValue);

}  // namespace ringlet::cuda
