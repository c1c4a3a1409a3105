// Operations on streams. Connected operations of a call or a group form one stream item.
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

/// An operation before it is issued.
struct StreamCall {
  comm::GroupedCall call = {};
  /// Shared with the handle and with the issued item.
  std::shared_ptr<Issued> issued = {};
  ringletStream_t stream = nullptr;
  bool on_stream = true;            ///< false: without a stream, complete when the caller returns
  ringletEvent_t begins = nullptr;  ///< recorded when the call begins; null: no event
};

/// Operations that run as one item, because they share a stream or a sequential communicator.
struct StreamCallSet {
  std::vector<StreamCall> calls = {};         ///< in call order
  std::vector<ringletStream_t> streams = {};  ///< each once, in order of first use
  bool waits = false;  ///< true: some calls are complete when the caller returns
};

/// Groups the calls into sets, in the order of their first calls.
/// \pre  a call without a stream shares its communicator with a call on a stream
std::vector<StreamCallSet> Gather(std::vector<StreamCall> calls);

/// Returns a host task that runs the set once, or with every launch of a graph. If a communicator
/// was destroyed meanwhile, the task fails.
stream::TaskRef TaskOf(const StreamCallSet& set);

/// Issues the calls, runs `meanwhile`, and waits for the calls that must be complete on return.
/// `meanwhile` runs before any wait, because peers may need its operations to complete the
/// operations on streams. Captured streams record the calls instead.
/// Errors  kInvalidArgument  a stream does not exist; kUnsupported  a capture forbids the call;
///         kSystem  no thread is available (in these cases `meanwhile` does not run); the first
///                  error of `meanwhile` and of the awaited operations
Status IssueCalls(std::vector<StreamCall> calls, const std::function<Status()>& meanwhile = {});

/// Converts a stream's answer to an error of NCCL's functions.
Status ToStatus(const stream::Answer& answer);

/// Checks that the stream exists. Errors  kInvalidArgument
Status CheckStream(ringletStream_t stream);
/// Checks that a non-null event can record the beginning of a call. Errors kInvalidArgument
Status CheckBegin(ringletEvent_t event);
/// Records `event`, if not null, when a call without a stream begins.
/// Errors  kInvalidArgument  the event was destroyed meanwhile
Status RecordBegin(ringletEvent_t event);

}  // namespace ringlet::c_api
