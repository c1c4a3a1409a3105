// Reductions that a program creates: ncclRedOpCreatePreMulSum.
#pragma once
#include "collective/call/call.hpp"
#include "comm/run/communicator.hpp"
#include "ringlet/compat/nccl.h"

namespace ringlet::c_api {

/// The meaning of an ncclRedOp_t for a communicator.
struct RedOp {
  ReduceOp op = ReduceOp::kSum;
  collective::Scalar scalar = {};        ///< for kPreMulSum
  const std::byte* scalar_at = nullptr;  ///< or its address, read when the operation runs
};

/// Creates an operation and returns its number.
/// \param read_later  read the scalar when a collective runs, not now
/// Errors  kInvalidArgument  the maximum number of operations exists already
Result<ncclRedOp_t> CreatePreMulSum(const comm::Communicator& communicator, const void* scalar,
                                    DataType type, bool read_later);
/// Errors  kInvalidArgument  the operation is not from this communicator
Status DestroyRedOp(const comm::Communicator& communicator, ncclRedOp_t op);

/// Errors  kInvalidArgument  the operation does not exist, or has another element type
Result<RedOp> FindRedOp(const comm::Communicator& communicator, ncclRedOp_t op, DataType type);

/// Removes the operations of a communicator that is being destroyed.
void ForgetRedOps(const comm::Communicator& communicator);

}  // namespace ringlet::c_api
