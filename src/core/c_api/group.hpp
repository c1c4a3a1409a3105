// ncclGroupStart and ncclGroupEnd: what is called between them on a thread is collected and run
// together at the outermost end.
#pragma once
#include "c_api/handle/guard.hpp"
#include "c_api/handle/handles.hpp"
#include "collective/call/call.hpp"
#include "comm/establish/establish.hpp"
#include "comm/run/group.hpp"

namespace ringlet::c_api {

/// A communicator to be formed; the handle is stored when it has been, or null where there is none.
struct InitJob {
  Form form;
  ncclComm_t* out;
  /// Without blocking the handle is stored at once, and a thread forms what it is of.
  CommOptions options = {};
  ncclComm_t parent = nullptr;
  bool gives_one = true;  ///< else the rank is in none of what is formed, and gets no handle
};

/// ReadConfig; what has no effect is noted in the log once.
Result<CommOptions> OptionsOf(const ncclConfig_t* config, const CommOptions& inherited);

struct CallJob {
  ncclComm_t handle;
  Held held;
  comm::Work work;
  cudaStream_t stream;
  cudaEvent_t begins = nullptr;  ///< recorded where it begins; null: none
};

/// Inside a group: collects. Outside: runs now, or begins where it does not block. True: it goes
/// on.
Result<bool> SubmitInit(InitJob job);
Result<bool> SubmitCall(CallJob job);
/// As SubmitCall of a collective. The usual one, outside a group and on no stream, is not copied.
Result<bool> SubmitCollective(ncclComm_t handle, const Held& held, const collective::Call& call,
                              cudaStream_t stream, cudaEvent_t begins);

void StartGroup();
/// Runs what was collected when this closes the outermost group. True when some of it goes on.
/// Errors  kUnsupported  no group is open; else the first error of what ran, or of a call that was
///                       refused inside the group, in which case nothing runs.
Result<bool> EndGroup();
/// A call inside the open group was refused: the group will not run.
void SpoilGroup(const Error& error);
/// Closes the group, which will not run for the reason `why`. Errors  kUnsupported  none is open
Status DropGroup(const Error& why);

/// A call that is refused inside a group must keep the group from running without it.
template <typename Body>
ncclResult_t GuardInGroup(std::string_view function, Body&& body) noexcept {
  const ncclResult_t result = Guard(function, [&]() -> Status {
    Status status = body();
    if (!status.ok()) SpoilGroup(status.error());
    return status;
  });
  // An exception has not spoiled the group yet. A group keeps its first error.
  if (result != ncclSuccess) SpoilGroup({Code::kSystem, "out of memory"});
  return result;
}

/// The same for calls that may go on when they return: the body says whether.
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
