// The text of ncclGetLastError.
#pragma once
#include "ringlet/compat/nccl.h"
#include "ringlet/status.hpp"

namespace ringlet::c_api {

/// Maps an error code to NCCL's result code with the same cure.
ncclResult_t ToResult(Code code);

/// Keeps the error's message for ncclGetLastError, per thread and for the process, and its lost
/// rank for the thread.
void RecordLastError(const Error& error);

/// The last error of this thread, else of the process, else "". Valid until this thread's next
/// call.
const char* LastError();

/// Error::lost_rank of the last error of this thread; -1 without an error.
int LastLostRank() noexcept;

}  // namespace ringlet::c_api
