// The collectives, messages and reductions of NCCL's C API: check, call comm, translate.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/c_api/group.hpp"
#include "frontends/c_api/red_op.hpp"

namespace ringlet::c_api {
namespace {

/// The arguments that every function of this file gets from its caller.
struct Arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
};

Result<DataType> TypeOf(ncclDataType_t type) {
  const int number = static_cast<int>(type);
  if (number >= 0 && number < static_cast<int>(kNcclDataTypes))
    return static_cast<DataType>(number);
  return Error{Code::kInvalidArgument, fmt::format("data type {} does not exist", number)};
}

Status RequireNullStream(cudaStream_t stream) {
  if (!stream) return Ok();
  return Error{Code::kUnsupported,
               "streams are not implemented yet: pass NULL, the call completes before it returns"};
}

Result<Rank> RankOf(int number, const char* name, const comm::Communicator& communicator) {
  if (number >= 0 && static_cast<std::uint32_t>(number) < communicator.identity().size)
    return Rank{static_cast<std::uint32_t>(number)};
  return Error{Code::kInvalidArgument, fmt::format("{} is {}, not between 0 and {}", name, number,
                                                   communicator.identity().size - 1)};
}

struct Submission {
  Held held = {};
  collective::Call call = {};
};

Result<Submission> Prepare(comm::CallKind kind, const Arguments& given, std::optional<int> root) {
  Submission submission;
  RINGLET_TRY_ASSIGN(submission.held, FindActive(given.comm));
  const comm::Communicator& communicator = *submission.held.communicator;
  collective::Call& call = submission.call;
  call.kind = kind;
  call.count = given.count;
  RINGLET_TRY_ASSIGN(call.type, TypeOf(given.type));
  RINGLET_TRY(RequireNullStream(given.stream));
  if (root) {
    RINGLET_TRY_ASSIGN(call.root, RankOf(*root, "root", communicator));
  }
  RINGLET_TRY(collective::CheckCount(given.count, call.type, communicator.identity().size));
  const std::size_t in = InputBytes(call, communicator.place());
  const std::size_t out = OutputBytes(call, communicator.place());
  if (in > 0) RINGLET_TRY(RequireNonNull(given.send, "sendbuff"));
  if (out > 0) RINGLET_TRY(RequireNonNull(given.receive, "recvbuff"));
  call.input = View(static_cast<const std::byte*>(given.send), in);
  call.output = std::span(static_cast<std::byte*>(given.receive), out);
  return submission;
}

Result<bool> Collective(comm::CallKind kind, const Arguments& given,
                        std::optional<int> root = std::nullopt) {
  RINGLET_TRY_ASSIGN(Submission submission, Prepare(kind, given, root));
  return SubmitCall({given.comm, std::move(submission.held), submission.call});
}

Result<bool> Reduction(comm::CallKind kind, const Arguments& given, ncclRedOp_t op,
                       std::optional<int> root = std::nullopt) {
  RINGLET_TRY_ASSIGN(Submission submission, Prepare(kind, given, root));
  RINGLET_TRY_ASSIGN(RedOp its, FindRedOp(*submission.held.communicator, op, submission.call.type));
  submission.call.op = its.op;
  submission.call.scalar = its.scalar;
  submission.call.scalar_at = its.scalar_at;
  return SubmitCall({given.comm, std::move(submission.held), submission.call});
}

Result<bool> Message(bool sends, const Arguments& given, int peer) {
  RINGLET_TRY_ASSIGN(Held held, FindActive(given.comm));
  RINGLET_TRY_ASSIGN(const DataType type, TypeOf(given.type));
  RINGLET_TRY(RequireNullStream(given.stream));
  RINGLET_TRY_ASSIGN(const Rank rank, RankOf(peer, "peer", *held.communicator));
  RINGLET_TRY(collective::CheckCount(given.count, type, 1));
  const std::size_t bytes = given.count * SizeOf(type);
  if (bytes > 0) {
    RINGLET_TRY(sends ? RequireNonNull(given.send, "sendbuff")
                      : RequireNonNull(given.receive, "recvbuff"));
  }
  comm::Transfer transfer{.peer = rank, .sends = sends, .count = given.count, .type = type};
  if (sends) transfer.from = View(static_cast<const std::byte*>(given.send), bytes);
  if (!sends) transfer.to = std::span(static_cast<std::byte*>(given.receive), bytes);
  return SubmitCall({given.comm, std::move(held), transfer});
}

Status MakePreMulSum(ncclRedOp_t* op, const void* scalar, ncclDataType_t datatype,
                     ncclScalarResidence_t residence, ncclComm_t comm) {
  RINGLET_TRY(RequireNonNull(op, "op"));
  RINGLET_TRY(RequireNonNull(scalar, "scalar"));
  RINGLET_TRY_ASSIGN(const Held held, FindActive(comm));
  RINGLET_TRY_ASSIGN(const DataType type, TypeOf(datatype));
  if (residence != ncclScalarDevice && residence != ncclScalarHostImmediate)
    return Error{Code::kInvalidArgument,
                 fmt::format("residence is {}, neither ncclScalarDevice nor "
                             "ncclScalarHostImmediate",
                             static_cast<int>(residence))};
  RINGLET_TRY_ASSIGN(
      *op, CreatePreMulSum(*held.communicator, scalar, type, residence == ncclScalarDevice));
  return Ok();
}

}  // namespace
}  // namespace ringlet::c_api

namespace api = ringlet::c_api;
using ringlet::comm::CallKind;

extern "C" {

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                           ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return api::GuardBegun("ncclAllReduce", [&] {
    return api::Reduction(CallKind::kAllReduce, {sendbuff, recvbuff, count, datatype, comm, stream},
                          op);
  });
}

ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return api::GuardBegun("ncclReduce", [&] {
    return api::Reduction(CallKind::kReduce, {sendbuff, recvbuff, count, datatype, comm, stream},
                          op, root);
  });
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                               ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  return api::GuardBegun("ncclReduceScatter", [&] {
    return api::Reduction(CallKind::kReduceScatter,
                          {sendbuff, recvbuff, recvcount, datatype, comm, stream}, op);
  });
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                           ncclDataType_t datatype, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return api::GuardBegun("ncclBroadcast", [&] {
    return api::Collective(CallKind::kBroadcast,
                           {sendbuff, recvbuff, count, datatype, comm, stream}, root);
  });
}

ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return api::GuardBegun("ncclBcast", [&] {
    return api::Collective(CallKind::kBroadcast, {buff, buff, count, datatype, comm, stream}, root);
  });
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                           ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return api::GuardBegun("ncclAllGather", [&] {
    return api::Collective(CallKind::kAllGather,
                           {sendbuff, recvbuff, sendcount, datatype, comm, stream});
  });
}

ncclResult_t ncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count,
                          ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return api::GuardBegun("ncclAlltoAll", [&] {
    return api::Collective(CallKind::kAllToAll,
                           {sendbuff, recvbuff, count, datatype, comm, stream});
  });
}

ncclResult_t ncclGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return api::GuardBegun("ncclGather", [&] {
    return api::Collective(CallKind::kGather, {sendbuff, recvbuff, count, datatype, comm, stream},
                           root);
  });
}

ncclResult_t ncclScatter(const void* sendbuff, void* recvbuff, size_t count,
                         ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return api::GuardBegun("ncclScatter", [&] {
    return api::Collective(CallKind::kScatter, {sendbuff, recvbuff, count, datatype, comm, stream},
                           root);
  });
}

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return api::GuardBegun("ncclSend", [&] {
    return api::Message(true, {sendbuff, nullptr, count, datatype, comm, stream}, peer);
  });
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return api::GuardBegun("ncclRecv", [&] {
    return api::Message(false, {nullptr, recvbuff, count, datatype, comm, stream}, peer);
  });
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  return api::GuardInGroup("ncclRedOpCreatePreMulSum", [&] {
    return api::MakePreMulSum(op, scalar, datatype, residence, comm);
  });
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return api::GuardInGroup("ncclRedOpDestroy", [&]() -> ringlet::Status {
    RINGLET_TRY_ASSIGN(const auto communicator, api::Find(comm));
    return api::DestroyRedOp(*communicator, op);
  });
}

// The profiling twins: a tool that defines ncclX reaches the original as pncclX.
#define RINGLET_TWIN(name) extern decltype(name) p##name __attribute__((alias(#name)))
RINGLET_TWIN(ncclAllReduce);
RINGLET_TWIN(ncclReduce);
RINGLET_TWIN(ncclReduceScatter);
RINGLET_TWIN(ncclBroadcast);
RINGLET_TWIN(ncclBcast);
RINGLET_TWIN(ncclAllGather);
RINGLET_TWIN(ncclAlltoAll);
RINGLET_TWIN(ncclGather);
RINGLET_TWIN(ncclScatter);
RINGLET_TWIN(ncclSend);
RINGLET_TWIN(ncclRecv);
RINGLET_TWIN(ncclRedOpCreatePreMulSum);
RINGLET_TWIN(ncclRedOpDestroy);
#undef RINGLET_TWIN

}  // extern "C"
