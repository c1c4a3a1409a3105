// Work for a stream: what CUDA's functions put into streams as items of their own.
#pragma once
#include <functional>

#include "emulate/host/cuda_code.hpp"
#include "ringlet/export.hpp"
#include "ringlet/stream.h"

namespace ringlet::cuda {

/// The result of the latest call of the streams on this thread, in CUDA's numbers.
RINGLET_API Answer FromStream(ringletResult_t result);

/// Whether what is put into `stream` now goes into a graph.
RINGLET_API bool Captures(ringletStream_t stream);

/// Runs `work` when its turn comes in `stream`; in a capture, at each launch of the graph.
RINGLET_API Answer Enqueue(ringletStream_t stream, std::function<void()> work);

/// As Enqueue, and waits for it. An error of what came before in the stream is the answer.
RINGLET_API Answer EnqueueAndWait(ringletStream_t stream, std::function<void()> work);

/// Adds `work` to `graph` behind the nodes of `needs`.
RINGLET_API Answer AddNode(ringletGraphNode_t* node, ringletGraph_t graph,
                           const ringletGraphNode_t* needs, std::size_t count,
                           std::function<void()> work);

/// To be asked before what is done at once, which a capture of this thread or process may forbid.
RINGLET_API Answer CheckCapture();

/// The device whose null stream this thread uses.
RINGLET_API int CurrentDevice();

}  // namespace ringlet::cuda
