// The communicators that this process has handed out, so that a wrong pointer is an error and not a
// crash, and the process that they run in.
#pragma once
#include <memory>

#include "comm/communicator.hpp"
#include "frontends/c_api/forming.hpp"
#include "ringlet/compat/nccl.h"

namespace ringlet::c_api {

/// The process behind the C API: made at the first call, made anew in the child of a fork. The C
/// API has no object to hold it, so this is the one global of Ringlet.
Result<std::shared_ptr<comm::Process>> CurrentProcess();

/// Gives out a handle.
ncclComm_t Export(std::shared_ptr<comm::Communicator> communicator);

/// Gives out a handle before its communicator is formed.
/// \param parent  of which it is made, and which is not to be used meanwhile; or null
ncclComm_t ExportForming(std::shared_ptr<Forming> forming, ncclComm_t parent);

/// The communicator of a handle, kept alive for the call even if another thread aborts it.
/// Errors  kInvalidArgument  null, never given out, destroyed already, or still at it
///         and as forming it, if that failed
Result<std::shared_ptr<comm::Communicator>> Find(ncclComm_t handle);

/// Finds and forgets: the handle is invalid from now on. Nothing where none was formed.
/// Errors  kInvalidArgument  as Find
Result<std::shared_ptr<comm::Communicator>> Take(ncclComm_t handle);
/// The same at any time: what is still being formed is stopped first.
Result<std::shared_ptr<comm::Communicator>> TakeAborted(ncclComm_t handle);

/// How a communicator is.
struct State {
  bool in_progress = false;
  std::optional<Error> failure = {};
};
/// Errors  kInvalidArgument  null, never given out, or destroyed already
Result<State> StateOf(ncclComm_t handle);

/// A finalized communicator takes no more operations.
Status MarkFinalized(ncclComm_t handle);
/// As Find; also refuses a finalized one (kUnsupported).
Result<std::shared_ptr<comm::Communicator>> FindActive(ncclComm_t handle);

}  // namespace ringlet::c_api
