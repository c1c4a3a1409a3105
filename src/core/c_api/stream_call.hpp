// Operations that are issued to streams: one item for those of a call or a group that belong
// together.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "c_api/handle/issued.hpp"
#include "comm/run/group.hpp"
#include "ringlet/compat/nccl.h"
#include "ringlet/stream.h"
#include "stream/host_task.hpp"
#include "stream/stream_table.hpp"

namespace ringlet::c_api {

/// One operation, before it is issued.
struct StreamCall {
  comm::GroupedCall call = {};
  /// Shared with the handle, and what runs later.
  std::shared_ptr<Issued> issued = {};
  ringletStream_t stream = nullptr;
  bool on_stream = true;  ///< else it is of the caller's thread, and complete when that returns
  ringletEvent_t begins = nullptr;  ///< recorded where it begins; null: none
};

/// Operations that run as one: linked by a communicator, which has one operation at a time, or by a
/// stream.
struct StreamCallSet {
  std::vector<StreamCall> calls = {};         ///< in the order in which they were called
  std::vector<ringletStream_t> streams = {};  ///< each once, the first call's first
  bool waits = false;                         ///< some are complete when the caller returns
};

/// Sets in the order of their first calls.
/// \pre  a call without a stream has the communicator of a call on a stream
std::vector<StreamCallSet> Gather(std::vector<StreamCall> calls);

/// The host function that runs them, once or with every launch of a graph. Communicators that are
/// gone by then are an error.
stream::TaskRef TaskOf(const StreamCallSet& set);

/// Issues them, runs `meanwhile`, and waits for those that must be complete on return. `meanwhile`
/// runs before any wait: peers may need its operations to complete the operations on streams.
/// Captured streams record the calls instead.
/// Errors  kInvalidArgument  no such stream; kUnsupported  a capture does not allow it;
///         kSystem  no thread (in these cases `meanwhile` does not run); the first error of
///         `meanwhile` and of the awaited operations
Status IssueCalls(std::vector<StreamCall> calls, const std::function<Status()>& meanwhile = {});

/// The answer of a stream as an error of NCCL's functions.
Status ToStatus(const stream::Answer& answer);

/// Whether there is such a stream. Errors  kInvalidArgument
Status CheckStream(ringletStream_t stream);
/// Whether an event can tell of the beginning of a call; null is none. Errors  kInvalidArgument
Status CheckBegin(ringletEvent_t event);
/// A call that is of no stream begins: its event is recorded, if it has one.
/// Errors  kInvalidArgument  the event was destroyed meanwhile
Status RecordBegin(ringletEvent_t event);

}  // namespace ringlet::c_api
