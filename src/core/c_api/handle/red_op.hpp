// Reductions that a program makes of its own: ncclRedOpCreatePreMulSum.
#pragma once
#include "collective/call/call.hpp"
#include "comm/run/communicator.hpp"
#include "ringlet/compat/nccl.h"

namespace ringlet::c_api {

/// The meaning of a number of type ncclRedOp_t for a communicator.
struct RedOp {
  ReduceOp op = ReduceOp::kSum;
  collective::Scalar scalar = {};        ///< of kPreMulSum
  const std::byte* scalar_at = nullptr;  ///< or where it is read when the operation runs
};

/// \param read_later  the scalar is read when a collective runs with it, not now
/// Gives the new operation's number.
/// Errors  kInvalidArgument  there are as many as there may be
Result<ncclRedOp_t> CreatePreMulSum(const comm::Communicator& communicator, const void* scalar,
                                    DataType type, bool read_later);
/// Errors  kInvalidArgument  the communicator has no such operation of its own
Status DestroyRedOp(const comm::Communicator& communicator, ncclRedOp_t op);

/// Errors  kInvalidArgument  no such operation, or one for elements of another type
Result<RedOp> FindRedOp(const comm::Communicator& communicator, ncclRedOp_t op, DataType type);

/// Forgets the operations of a communicator that goes.
void ForgetRedOps(const comm::Communicator& communicator);

}  // namespace ringlet::c_api
