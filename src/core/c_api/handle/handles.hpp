// The communicator handles of this process and the process object of their communicators. A wrong
// handle is an error and not a crash.
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

/// The process behind the C API: comm::ProcessOfProgram with the settings from Override.
Result<std::shared_ptr<comm::Process>> CurrentProcess();
/// CurrentProcess for readers of settings and the log, which all processes of a program share.
Result<std::shared_ptr<comm::Process>> ProcessForSettings();
/// Overrides the environment's settings for processes from now on.
/// Errors  kUnsupported  CurrentProcess was called before, and its settings differ
Status Override(const EnvMap& settings);

/// True if ncclSetEncryption requested encryption.
bool IsEncryptionWanted();

/// Creates the handle of a formed communicator.
ncclComm_t Export(std::shared_ptr<comm::Communicator> communicator, const CommOptions& options);

/// Creates the handle of a communicator that is still forming.
ncclComm_t ExportForming(std::shared_ptr<Forming> forming, const CommOptions& options);

/// Marks `parent` as busy until `forming` has an outcome. Has no effect on an unknown handle.
void Occupy(ncclComm_t parent, std::shared_ptr<Forming> forming);

/// Marks all `handles` as busy until the operation is done, and starts it.
/// Errors  as Find; kSystem  no thread is available
Status Begin(std::span<const ncclComm_t> handles, const std::shared_ptr<Running>& running);

/// Returns the communicator of a handle. It lives during the call even if another thread aborts it.
/// Errors  kInvalidArgument  the handle is null, unknown, destroyed or busy
///         and the error of forming it, if that failed
Result<std::shared_ptr<comm::Communicator>> Find(ncclComm_t handle);

/// A formed communicator and its options.
struct FormedCommunicator {
  std::shared_ptr<comm::Communicator> communicator = {};
  CommOptions options = {};
  bool has_issued = false;  ///< operations were issued to streams and may still run
};
/// Calls Find; refuses a finalized or suspended communicator (kUnsupported), but not a revoked one.
Result<FormedCommunicator> FindParent(ncclComm_t handle);
/// Calls FindParent; refuses a revoked communicator too (kUnsupported).
Result<FormedCommunicator> FindActive(ncclComm_t handle);
/// Does the same for small operations, which a copy of the result would delay.
Status FindActive(ncclComm_t handle, FormedCommunicator& found);
/// Like Find, but accepts a communicator while an operation runs on it. Refuses a finalized one.
Result<FormedCommunicator> FindRunning(ncclComm_t handle);
/// Waits until no operation runs on the communicator. The caller has failed it before. Issued
/// stream operations that have not begun will do nothing, and their streams continue.
void AwaitIdle(ncclComm_t handle);

/// Returns the communicator's operations on streams; the first call creates the object.
Result<std::shared_ptr<Issued>> IssuedOf(ncclComm_t handle);
/// Like IssuedOf, but null if no operation was issued to a stream.
std::shared_ptr<Issued> FindIssued(ncclComm_t handle);
/// Waits until all operations on streams have ended; on a failed communicator, until the running
/// ones have ended. Errors  kUnsupported  the caller is a host function of a stream and would wait
Status AwaitIssued(ncclComm_t handle);

/// Waits as AwaitIssued and removes the handle. Has no other effect if forming failed.
/// Errors  kInvalidArgument  as Find, and the handle stays; else the error of an operation on a
///                           stream, or of a non-blocking operation, that did not complete
Status Take(ncclComm_t handle);
/// Like Take, but works on busy handles: stops forming, and fails unfinished operations on all
/// ranks for the reason `why`. If none is unfinished, it is Take.
Status TakeAborted(ncclComm_t handle, const std::string& why);

/// The state of a communicator.
struct CommunicatorState {
  bool in_progress = false;
  std::optional<Error> failure = {};
};
/// Errors  kInvalidArgument  the handle is null, unknown or destroyed
Result<CommunicatorState> StateOf(ncclComm_t handle);

/// Finalizes a communicator, which then refuses operations. Returns true if it is non-blocking and
/// operations on streams have not ended. Errors  as FindActive; of operations as Take
Result<bool> MarkFinalized(ncclComm_t handle);

/// Suspends a communicator until MarkResumed. \param frees  also frees its working memory
/// Errors  as FindActive
Status MarkSuspended(ncclComm_t handle, bool frees);
/// Errors  kUnsupported  it is finalized, revoked or not suspended; as Find
Status MarkResumed(ncclComm_t handle);
/// True if its working memory is freed. Errors  as Find
Result<bool> IsFreed(ncclComm_t handle);

/// Creates the id for the next growth. Errors  kUnsupported  the last id is unused; as FindActive
Result<UniqueId> TakeGrowthId(ncclComm_t handle,
                              const std::function<Result<UniqueId>(comm::Communicator&)>& make);
/// Returns and clears that id; empty if none exists.
std::optional<UniqueId> UseGrowthId(ncclComm_t handle);

}  // namespace ringlet::c_api
