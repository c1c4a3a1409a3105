// Events that several processes have: cudaIpcGetEventHandle.
//
// A record of an event that was handed out, or came from another process, is complete when the call
// that records it returns. So its state is the same in all processes, which need to share nothing:
// a process that has heard of a record by any means finds it complete (decision 95).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "emulate/host/memory.hpp"
#include "emulate/host/queue.hpp"

namespace ringlet::cuda {

/// All methods from any thread.
class RINGLET_API SharedEvents {
 public:
  Answer Create(ringletEvent_t* event, unsigned flags);
  /// Waits for what was issued to `stream` before, where another process has the event.
  Answer Record(ringletEvent_t event, ringletStream_t stream);
  Answer Destroy(ringletEvent_t event);

  /// A handle for another process. Waits for the last record.
  /// Errors  kInvalidHandle  the event was not created with ringletEventInterprocess
  Answer Export(ringletEvent_t event, IpcHandle& handle);
  /// \param event  the caller's, to be destroyed
  /// Errors  kInvalidHandle  no handle of Export ; kDeviceUninitialized  of this very process
  Answer Open(const IpcHandle& handle, ringletEvent_t* event);

 private:
  bool IsShared(ringletEvent_t event);

  std::mutex mutex_;
  std::map<ringletEvent_t, bool> shared_;  // that may be shared: whether they are
};

}  // namespace ringlet::cuda
