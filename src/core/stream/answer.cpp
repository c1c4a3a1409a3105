#include "stream/answer.hpp"

namespace ringlet::stream {

const char* ResultName(ringletResult_t result) {
  switch (result) {
    case ringletSuccess: return "ringletSuccess";
    case ringletNotReady: return "ringletNotReady";
    case ringletInvalidArgument: return "ringletInvalidArgument";
    case ringletInvalidHandle: return "ringletInvalidHandle";
    case ringletFailed: return "ringletFailed";
    case ringletCaptureUnsupported: return "ringletCaptureUnsupported";
    case ringletCaptureInvalidated: return "ringletCaptureInvalidated";
    case ringletCaptureUnmatched: return "ringletCaptureUnmatched";
    case ringletOutOfMemory: return "ringletOutOfMemory";
    case ringletNotPermitted: return "ringletNotPermitted";
    case ringletCaptureMerge: return "ringletCaptureMerge";
    case ringletCaptureUnjoined: return "ringletCaptureUnjoined";
    case ringletCaptureIsolation: return "ringletCaptureIsolation";
    case ringletCaptureImplicit: return "ringletCaptureImplicit";
    case ringletCapturedEvent: return "ringletCapturedEvent";
    case ringletCaptureWrongThread: return "ringletCaptureWrongThread";
    case ringletResults: break;
  }
  return "not a ringletResult_t";
}

}  // namespace ringlet::stream
