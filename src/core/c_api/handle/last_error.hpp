// The text of ncclGetLastError.
#pragma once
#include "ringlet/compat/nccl.h"
#include "ringlet/status.hpp"

namespace ringlet::c_api {

/// NCCL's code for an error, by what the caller can do about it.
ncclResult_t ToResult(Code code);

/// Keeps the error's sentence for ncclGetLastError, of this thread and of the process.
void Remember(const Error& error);

/// The last error of this thread or, if it had none, of the process; "" if there was none. Valid
/// until the next call on this thread.
const char* LastError();

}  // namespace ringlet::c_api
