// The early end of a rank.
#pragma once
#include <nccl.h>

#include <stdexcept>
#include <string>

namespace oracle {

/// The library did something wrong.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A function of the library returned an error, which is not wrong in itself: see
/// Layout::may_refuse.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws Refusal, with the library's sentence, for anything but success.
void Must(ncclResult_t result, const char* what);

/// Waits until a communicator that does not block is done, and returns how it ended.
ncclResult_t Settle(ncclComm_t comm);

}  // namespace oracle
