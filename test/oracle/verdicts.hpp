// The early end of a rank.
#pragma once
#include <nccl.h>

#include <stdexcept>
#include <string>

namespace oracle {

/// A defect of the library.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The library returned an error, which may be right: see Layout::may_refuse.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws Refusal, with the library's message, for anything but success.
void Must(ncclResult_t result, const char* what);

/// Waits until a nonblocking communicator is done, and returns its result.
ncclResult_t Settle(ncclComm_t comm);

}  // namespace oracle
