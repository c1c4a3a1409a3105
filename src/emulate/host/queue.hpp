// Work that CUDA's functions put into streams as items.
#pragma once
#include <functional>

#include "emulate/host/cuda_code.hpp"
#include "ringlet/export.hpp"
#include "ringlet/stream.h"

namespace ringlet::cuda {

/// Converts the result of this thread's latest stream call to CUDA's numbers.
RINGLET_API Answer FromStream(ringletResult_t result);

/// True if `stream` adds new items to a graph.
RINGLET_API bool Captures(ringletStream_t stream);

/// Runs `work` in stream order; in a capture, at each launch of the graph.
RINGLET_API Answer Enqueue(ringletStream_t stream, std::function<void()> work);

/// As Enqueue, and waits for the end. Returns an error of earlier work in the stream.
RINGLET_API Answer EnqueueAndWait(ringletStream_t stream, std::function<void()> work);

/// Adds `work` to `graph` behind the nodes in `needs`.
RINGLET_API Answer AddNode(ringletGraphNode_t* node, ringletGraph_t graph,
                           const ringletGraphNode_t* needs, std::size_t count,
                           std::function<void()> work);

/// Checks that no capture of this thread or process forbids an immediate operation.
RINGLET_API Answer CheckCapture();

/// The device of this thread's null stream.
RINGLET_API int CurrentDevice();

}  // namespace ringlet::cuda
