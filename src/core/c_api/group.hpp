// ncclGroupStart and ncclGroupEnd. The calls between them are collected and run together by the
// outermost end.
#pragma once
#include "c_api/handle/guard.hpp"
#include "c_api/handle/handles.hpp"
#include "collective/call/call.hpp"
#include "comm/establish/establish.hpp"
#include "comm/run/group.hpp"

namespace ringlet::c_api {

/// A communicator to form. Its handle is stored when it is formed; null if this rank gets none.
struct InitJob {
  Form form;
  ncclComm_t* out;
  /// If non-blocking, the handle is stored at once, and a thread forms the communicator.
  CommOptions options = {};
  ncclComm_t parent = nullptr;
  bool gives_one = true;  ///< false: the rank joins no communicator and gets no handle
};

/// Calls ReadConfig and logs each field without effect once.
Result<CommOptions> OptionsOf(const ncclConfig_t* config, const CommOptions& inherited);

struct CallJob {
  ncclComm_t handle;
  FormedCommunicator held;
  comm::Work work;
  cudaStream_t stream;
  cudaEvent_t begins = nullptr;  ///< recorded when the call begins; null: no event
};

/// Inside a group, collects the job. Outside, runs it now, or begins it if non-blocking. Returns
/// true if it continues in the background.
Result<bool> SubmitInit(InitJob job);
Result<bool> SubmitCall(CallJob job);
/// SubmitCall of a collective. Does not copy the usual call, without a group or stream.
Result<bool> SubmitCollective(ncclComm_t handle, const FormedCommunicator& held,
                              const collective::Call& call, cudaStream_t stream,
                              cudaEvent_t begins);
/// SubmitCall of a message. Copies the usual one, without a stream, at most once.
Result<bool> SubmitTransfer(ncclComm_t handle, FormedCommunicator held,
                            const comm::Transfer& transfer, cudaStream_t stream);

void StartGroup();
/// Closes a group; closing the outermost one runs the collected calls. Returns true if some of them
/// continue in the background.
/// Errors  kUnsupported  no group is open; else the first error of a call that ran, or of a call
///                       that was refused inside the group, and then no call runs.
Result<bool> EndGroup();
/// Marks the open group as failed because it refused a call; the group will not run.
void MarkGroupFailed(const Error& error);
/// Drops the group for the reason `why`. Errors  kUnsupported  no group is open
Status DropGroup(const Error& why);

/// A Guard for calls inside groups: a refused call prevents the whole group from running.
template <typename Body>
ncclResult_t GuardInGroup(std::string_view function, Body&& body) noexcept {
  const ncclResult_t result = Guard(function, [&]() -> Status {
    Status status = body();
    if (!status.ok()) MarkGroupFailed(status.error());
    return status;
  });
  // After an exception the group is not spoiled yet. A group keeps its first error.
  if (result != ncclSuccess) MarkGroupFailed({Code::kSystem, "out of memory"});
  return result;
}

/// As GuardInGroup, for calls that may continue after their return: the body returns true if so.
template <typename Body>
ncclResult_t GuardBegun(std::string_view function, Body&& body) noexcept {
  bool goes_on = false;
  const ncclResult_t result = GuardInGroup(function, [&]() -> Status {
    RINGLET_TRY_ASSIGN(goes_on, body());
    return Ok();
  });
  return result == ncclSuccess && goes_on ? ncclInProgress : result;
}

}  // namespace ringlet::c_api
