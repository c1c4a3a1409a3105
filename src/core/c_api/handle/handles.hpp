// The communicators that this process has handed out, so that a wrong pointer is an error and not a
// crash, and the process that they run in.
#pragma once
#include <memory>
#include <span>

#include "c_api/handle/forming.hpp"
#include "c_api/handle/issued.hpp"
#include "c_api/handle/options.hpp"
#include "c_api/handle/running.hpp"
#include "comm/run/communicator.hpp"
#include "ringlet/compat/nccl.h"

namespace ringlet::c_api {

/// The process behind the C API: comm::ProcessOfProgram with what Override has set.
Result<std::shared_ptr<comm::Process>> CurrentProcess();
/// The same for who only reads what is the same in any process of this program: settings, the log.
Result<std::shared_ptr<comm::Process>> LookAtProcess();
/// From now on processes have these settings, whatever the environment says.
/// Errors  kUnsupported  CurrentProcess has been asked for, and it has others
Status Override(const EnvMap& settings);

/// Whether ncclSetEncryption has asked for encryption.
bool IsEncryptionWanted();

/// Gives out a handle of a communicator that is there.
ncclComm_t Export(std::shared_ptr<comm::Communicator> communicator, const CommOptions& options);

/// Gives out a handle of one before it is formed.
ncclComm_t ExportForming(std::shared_ptr<Forming> forming, const CommOptions& options);

/// `parent` is not to be used until what is formed of it is there. Nothing where there is none.
void Occupy(ncclComm_t parent, std::shared_ptr<Forming> forming);

/// Not one of `handles` is to be used until the operation is done, and it begins.
/// Errors  as Find; kSystem  it cannot begin
Status Begin(std::span<const ncclComm_t> handles, const std::shared_ptr<Running>& running);

/// The communicator of a handle, kept alive for the call even if another thread aborts it.
/// Errors  kInvalidArgument  null, never given out, destroyed already, or still at it
///         and as forming it, if that failed
Result<std::shared_ptr<comm::Communicator>> Find(ncclComm_t handle);

/// A communicator that is there, and what it was formed with.
struct Held {
  std::shared_ptr<comm::Communicator> communicator = {};
  CommOptions options = {};
  bool has_issued = false;  ///< operations to streams, which may not have ended
};
/// As Find; also refuses a finalized one and one that rests (kUnsupported). A revoked one is found.
Result<Held> FindParent(ncclComm_t handle);
/// As FindParent; also refuses a revoked one (kUnsupported).
Result<Held> FindActive(ncclComm_t handle);
/// As FindParent, also while an operation runs on it.
Result<Held> FindRunning(ncclComm_t handle);
/// Waits until no operation runs on it. The caller of this has failed the communicator: what was
/// issued to streams and has not begun will do nothing, and streams go on behind it.
void AwaitIdle(ncclComm_t handle);

/// The operations of a communicator on streams; made with the first.
/// Errors  kInvalidArgument  as Find
Result<std::shared_ptr<Issued>> IssuedOf(ncclComm_t handle);
/// The same, and null where there were none.
std::shared_ptr<Issued> FindIssued(ncclComm_t handle);
/// Waits until the operations on streams have ended, or those that run where the communicator has
/// failed. Errors  kUnsupported  there is something to wait for, and this is a host function of a
///                               stream
Status AwaitIssued(ncclComm_t handle);

/// Finds and forgets: the handle is invalid from now on. Nothing where none was formed. Waits as
/// AwaitIssued.
/// Errors  kInvalidArgument  as Find, and the handle stays; the error of an operation on a stream,
///                           or of one that did not block, whose result is not there
Status Take(ncclComm_t handle);
/// The same at any time: what is still being formed is stopped first, and what this rank has not
/// finished is failed on all ranks for the reason `why`. With nothing unfinished it is Take.
Status TakeAborted(ncclComm_t handle, const std::string& why);

/// How a communicator is.
struct State {
  bool in_progress = false;
  std::optional<Error> failure = {};
};
/// Errors  kInvalidArgument  null, never given out, or destroyed already
Result<State> StateOf(ncclComm_t handle);

/// A finalized communicator takes no more operations. True: some on streams have not ended, and it
/// does not block. Errors  as FindActive; of operations as Take
Result<bool> MarkFinalized(ncclComm_t handle);

/// A communicator rests until it is woken. \param frees  its working memory is given back
/// Errors  as FindActive
Status MarkResting(ncclComm_t handle, bool frees);
/// Errors  kUnsupported  it does not rest; as Find
Status MarkAwake(ncclComm_t handle);
/// Whether its memory is given back. Errors  as Find
Result<bool> IsFreed(ncclComm_t handle);

/// The id with which it grows next is `make`'s. Errors  kUnsupported  it has one that was not used;
/// as FindActive
Result<UniqueId> TakeGrowthId(ncclComm_t handle,
                              const std::function<Result<UniqueId>(comm::Communicator&)>& make);
/// That id, used up with this; empty: it has none.
std::optional<UniqueId> UseGrowthId(ncclComm_t handle);

}  // namespace ringlet::c_api
