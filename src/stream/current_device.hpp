// The device that a thread works for: where null and per-thread streams are.
#pragma once
#include <atomic>

#include "ringlet/stream.h"

namespace ringlet::stream {

/// 0 where it was not set.
int CurrentDevice();
void SetCurrentDevice(int device);

/// Whether NULL as the stream of an operation means the legacy stream (ringletStreamUseNull), for
/// the whole process; the one reader is on the path of each operation.
inline std::atomic<bool> null_is_stream{false};

/// Whether an operation with this stream is issued to one; else it is complete on return.
inline bool IsStream(const void* handle) {
  return handle != nullptr || null_is_stream.load(std::memory_order_relaxed);
}

}  // namespace ringlet::stream
