// The text of ncclGetLastError.
#pragma once
#include "ringlet/compat/nccl.h"
#include "ringlet/status.hpp"

namespace ringlet::c_api {

/// Maps an error code to NCCL's result code with the same cure.
ncclResult_t ToResult(Code code);

/// Keeps the error's message for ncclGetLastError, per thread and for the process.
void Remember(const Error& error);

/// The last error of this thread; if it had none, of the process; otherwise "". Valid until the
/// next call on this thread.
const char* LastError();

}  // namespace ringlet::c_api
