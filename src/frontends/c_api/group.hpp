// ncclGroupStart and ncclGroupEnd: what is called between them on a thread is collected and run
// together at the outermost end.
#pragma once
#include <functional>
#include <stop_token>

#include "comm/establish.hpp"
#include "comm/group.hpp"
#include "frontends/c_api/guard.hpp"
#include "frontends/c_api/handles.hpp"

namespace ringlet::c_api {

/// A communicator to be formed; the handle is stored when it has been, or null where there is none.
struct InitJob {
  Form form;
  ncclComm_t* out;
  bool blocking = true;  ///< else the handle is stored at once, and a thread forms what it is of
  ncclComm_t parent = nullptr;
};

/// Inside a group: collects. Outside: runs now, or begins where it does not block.
Status SubmitInit(InitJob job);
Status SubmitCall(comm::GroupedCall call);

void StartGroup();
/// Runs what was collected when this closes the outermost group. True when some of it goes on.
/// Errors  kUnsupported  no group is open; else the first error of what ran, or of a call that was
///                       refused inside the group, in which case nothing runs.
Result<bool> EndGroup();
/// A call inside the open group was refused: the group will not run.
void SpoilGroup(const Error& error);

/// A call that is refused inside a group must keep the group from running without it.
template <typename Body>
ncclResult_t GuardInGroup(std::string_view function, Body&& body) noexcept {
  return Guard(function, [&]() -> Status {
    Status status = body();
    if (!status.ok()) SpoilGroup(status.error());
    return status;
  });
}

}  // namespace ringlet::c_api
