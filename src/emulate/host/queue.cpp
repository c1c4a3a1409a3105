#include "emulate/host/queue.hpp"

#include <memory>

namespace ringlet::cuda {
namespace {

using Work = std::function<void()>;

void Run(void* data) {
  (*static_cast<Work*>(data))();
}

void Delete(void* data) {
  delete static_cast<Work*>(data);  // NOLINT(cppcoreguidelines-owning-memory): handed over as data
}

CudaCode CodeOf(ringletResult_t result) {
  switch (result) {
    case ringletSuccess: return CudaCode::kSuccess;
    case ringletNotReady: return CudaCode::kNotReady;
    case ringletInvalidArgument: return CudaCode::kInvalidValue;
    case ringletInvalidHandle: return CudaCode::kInvalidHandle;
    case ringletFailed: return CudaCode::kLaunchFailure;
    case ringletCaptureUnsupported: return CudaCode::kCaptureUnsupported;
    case ringletCaptureInvalidated: return CudaCode::kCaptureInvalidated;
    case ringletCaptureUnmatched: return CudaCode::kCaptureUnmatched;
    case ringletOutOfMemory: return CudaCode::kMemoryAllocation;
    case ringletNotPermitted: return CudaCode::kNotPermitted;
    case ringletCaptureMerge: return CudaCode::kCaptureMerge;
    case ringletCaptureUnjoined: return CudaCode::kCaptureUnjoined;
    case ringletCaptureIsolation: return CudaCode::kCaptureIsolation;
    case ringletCaptureImplicit: return CudaCode::kCaptureImplicit;
    case ringletCapturedEvent: return CudaCode::kCapturedEvent;
    case ringletCaptureWrongThread: return CudaCode::kCaptureWrongThread;
    case ringletResults: break;
  }
  return CudaCode::kUnknown;
}

}  // namespace

Answer FromStream(ringletResult_t result) {
  if (result == ringletSuccess || result == ringletNotReady) return {.code = CodeOf(result)};
  return {CodeOf(result), ringletStreamLastMessage()};
}

bool Captures(ringletStream_t stream) {
  int status = ringletCaptureNone;
  return ringletStreamCaptureStatus(stream, &status, nullptr, nullptr) == ringletSuccess &&
         status == ringletCaptureActive;
}

Answer Enqueue(ringletStream_t stream, std::function<void()> work) {
  auto held = std::make_unique<Work>(std::move(work));
  const Answer launched = FromStream(ringletStreamLaunchOwned(stream, Run, held.get(), Delete));
  if (launched.ok()) static_cast<void>(held.release());
  return launched;
}

Answer EnqueueAndWait(ringletStream_t stream, std::function<void()> work) {
  const Answer put = Enqueue(stream, std::move(work));
  return put.ok() ? FromStream(ringletStreamSynchronize(stream)) : put;
}

Answer AddNode(ringletGraphNode_t* node, ringletGraph_t graph, const ringletGraphNode_t* needs,
               std::size_t count, std::function<void()> work) {
  auto held = std::make_unique<Work>(std::move(work));
  const Answer added =
      FromStream(ringletGraphAddHostNode(node, graph, needs, count, Run, held.get()));
  if (!added.ok()) return added;
  Work* const data = held.release();  // the node owns it from now on
  return FromStream(ringletGraphOnDestroy(graph, Delete, data));
}

Answer CheckCapture() {
  return FromStream(ringletStreamCheckCapture());
}

int CurrentDevice() {
  int device = 0;
  static_cast<void>(ringletStreamGetDevice(&device));
  return device;
}

}  // namespace ringlet::cuda
