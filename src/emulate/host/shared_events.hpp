// Events shared by several processes: cudaIpcGetEventHandle.
//
// A record of an exported or imported event is complete when the recording call returns. So its
// state is the same in all processes without shared data: a process that learns of a record by any
// means finds it complete (decision 85).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "emulate/host/memory.hpp"
#include "emulate/host/queue.hpp"

namespace ringlet::cuda {

/// Any thread may call all methods.
class RINGLET_API SharedEvents {
 public:
  Answer Create(ringletEvent_t* event, unsigned flags);
  /// If another process has the event, waits for the work issued to `stream` before.
  Answer Record(ringletEvent_t event, ringletStream_t stream);
  Answer Destroy(ringletEvent_t event);

  /// Creates a handle for another process. Waits for the last record.
  /// Errors  kInvalidHandle  the event was not created with ringletEventInterprocess
  Answer Export(ringletEvent_t event, IpcHandle& handle);
  /// \param event  receives the event; the caller destroys it
  /// Errors  kInvalidHandle  not from Export ; kDeviceUninitialized  from this process
  Answer Open(const IpcHandle& handle, ringletEvent_t* event);

 private:
  bool IsShared(ringletEvent_t event);

  std::mutex mutex_;
  std::map<ringletEvent_t, bool> shared_;  // sharable events; true: shared
};

}  // namespace ringlet::cuda
