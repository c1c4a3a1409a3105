// The collectives, messages and reductions of NCCL's C API: checks, calls comm, translates.
#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "c_api/group.hpp"
#include "c_api/handle/red_op.hpp"
#include "collective/call/call.hpp"
#include "comm/peers/selection.hpp"

namespace ringlet::c_api {
namespace {

/// Arguments that the callers of all functions in this file pass.
struct Arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  const ncclCollConfig_t* config = nullptr;
};

Result<DataType> TypeOf(ncclDataType_t type) {
  const int number = static_cast<int>(type);
  if (number >= 0 && number < static_cast<int>(kNcclDataTypes))
    return static_cast<DataType>(number);
  return Error{Code::kInvalidArgument, fmt::format("data type {} does not exist", number)};
}

Result<Rank> RankOf(int number, const char* name, const comm::Communicator& communicator) {
  if (number >= 0 && static_cast<std::uint32_t>(number) < communicator.identity().size)
    return Rank{static_cast<std::uint32_t>(number)};
  return Error{Code::kInvalidArgument, fmt::format("{} is {}, not between 0 and {}", name, number,
                                                   communicator.identity().size - 1)};
}

/// Algorithms that the caller's config allows for the call; 0: all.
Result<std::uint32_t> AlgorithmsOf(const CallOptions& options, collective::Call call,
                                   const comm::Communicator& communicator) {
  if (options.algorithms.empty()) return 0u;
  RINGLET_TRY_ASSIGN(const auto set, comm::ReadSelection(options.algorithms));
  call.algorithms = static_cast<std::uint32_t>(set.to_ulong());
  if (set.all()) return 0u;
  if (call.algorithms != 0 && communicator.backend().Can(call).ok()) return call.algorithms;
  if (!options.forces) return 0u;
  return Error{Code::kInvalidArgument,
               fmt::format("no algorithm of config->algSelection, \"{}\", can run {} here; "
                           "forceAlgSelection = 0 permits others",
                           Printable(options.algorithms, 100), ToText(call))};
}

struct Submission {
  FormedCommunicator held = {};
  collective::Call call = {};
  cudaEvent_t begins = nullptr;
};

// Fills the caller's object, because moving a Submission costs too much for small operations.
Status Prepare(comm::CallKind kind, const Arguments& given, std::optional<int> root,
               Submission& submission) {
  RINGLET_TRY(FindActive(given.comm, submission.held));
  const comm::Communicator& communicator = *submission.held.communicator;
  collective::Call& call = submission.call;
  call.kind = kind;
  call.count = given.count;
  RINGLET_TRY_ASSIGN(call.type, TypeOf(given.type));
  if (root) {
    RINGLET_TRY_ASSIGN(call.root, RankOf(*root, "root", communicator));
  }
  const std::size_t in = InputBytes(call, communicator.place());
  const std::size_t out = OutputBytes(call, communicator.place());
  if (in > 0) RINGLET_TRY(RequireMemory(given.send, "sendbuff"));
  if (out > 0) RINGLET_TRY(RequireMemory(given.receive, "recvbuff"));
  call.input = View(static_cast<const std::byte*>(given.send), in);
  call.output = std::span(static_cast<std::byte*>(given.receive), out);
  if (given.config) {
    RINGLET_TRY_ASSIGN(const CallOptions options, ReadCallConfig(given.config));
    RINGLET_TRY_ASSIGN(call.algorithms, AlgorithmsOf(options, call, communicator));
    submission.begins = options.begins;
  }
  return Ok();
}

Result<bool> Collective(comm::CallKind kind, const Arguments& given,
                        std::optional<int> root = std::nullopt) {
  Submission submission;
  RINGLET_TRY(Prepare(kind, given, root, submission));
  return SubmitCollective(given.comm, submission.held, submission.call, given.stream,
                          submission.begins);
}

Result<bool> Reduction(comm::CallKind kind, const Arguments& given, ncclRedOp_t op,
                       std::optional<int> root = std::nullopt) {
  Submission submission;
  RINGLET_TRY(Prepare(kind, given, root, submission));
  RINGLET_TRY_ASSIGN(RedOp its, FindRedOp(*submission.held.communicator, op, submission.call.type));
  submission.call.op = its.op;
  submission.call.scalar = its.scalar;
  submission.call.scalar_at = its.scalar_at;
  return SubmitCollective(given.comm, submission.held, submission.call, given.stream,
                          submission.begins);
}

Result<bool> Message(bool sends, const Arguments& given, int peer) {
  FormedCommunicator held;
  RINGLET_TRY(FindActive(given.comm, held));
  RINGLET_TRY_ASSIGN(const DataType type, TypeOf(given.type));
  RINGLET_TRY_ASSIGN(const Rank rank, RankOf(peer, "peer", *held.communicator));
  RINGLET_TRY(collective::CheckCount(given.count, type, 1));
  const std::size_t bytes = given.count * SizeOf(type);
  if (bytes > 0) {
    RINGLET_TRY(sends ? RequireMemory(given.send, "sendbuff")
                      : RequireMemory(given.receive, "recvbuff"));
  }
  comm::Transfer transfer{.peer = rank, .sends = sends, .count = given.count, .type = type};
  if (sends) transfer.from = View(static_cast<const std::byte*>(given.send), bytes);
  if (!sends) transfer.to = std::span(static_cast<std::byte*>(given.receive), bytes);
  return SubmitTransfer(given.comm, std::move(held), transfer, given.stream);
}

Status CheckSignal(const FormedCommunicator& held, int context, int number, const char* where) {
  const CommOptions& options = held.options;
  if (context < 0 || static_cast<std::uint32_t>(context) >= options.contexts)
    return Error{
        Code::kInvalidArgument,
        fmt::format("{}ctx is {}, not between 0 and {} (ncclConfig_t::numRmaCtx is {})", where,
                    context, static_cast<int>(options.contexts) - 1, options.contexts)};
  if (number < 0 || static_cast<std::uint32_t>(number) >= options.signals)
    return Error{
        Code::kInvalidArgument,
        fmt::format("{}sigIdx is {}, not between 0 and {} (ncclConfig_t::numRmaSig is {})", where,
                    number, static_cast<int>(options.signals) - 1, options.signals)};
  return Ok();
}

comm::Signal SignalOf(int context, int number) {
  return {.context = static_cast<std::uint32_t>(context),
          .number = static_cast<std::uint32_t>(number)};
}

/// The signal to raise, and its peer.
struct SignalArguments {
  int peer;
  int number, context;
  unsigned flags;
};

Result<comm::Put> PutOf(const FormedCommunicator& held, const SignalArguments& given) {
  comm::Put put;
  RINGLET_TRY_ASSIGN(put.peer, RankOf(given.peer, "peer", *held.communicator));
  RINGLET_TRY(CheckSignal(held, given.context, given.number, ""));
  if (given.flags != 0)
    return Error{Code::kInvalidArgument, fmt::format("flags is {:#x}, not 0", given.flags)};
  put.signal = SignalOf(given.context, given.number);
  return put;
}

Result<bool> SignalPeer(const SignalArguments& given, ncclComm_t comm, cudaStream_t stream) {
  RINGLET_TRY_ASSIGN(FormedCommunicator held, FindActive(comm));
  RINGLET_TRY_ASSIGN(const comm::Put put, PutOf(held, given));
  return SubmitCall({comm, std::move(held), put, stream});
}

Result<bool> PutToPeer(const Arguments& data, const SignalArguments& given, ncclWindow_t window,
                       std::size_t offset) {
  RINGLET_TRY_ASSIGN(FormedCommunicator held, FindActive(data.comm));
  RINGLET_TRY_ASSIGN(comm::Put put, PutOf(held, given));
  RINGLET_TRY_ASSIGN(const DataType type, TypeOf(data.type));
  RINGLET_TRY(collective::CheckCount(data.count, type, 1));
  RINGLET_TRY(RequireNonNull(data.send, "localbuff"));
  RINGLET_TRY_ASSIGN(put.window, WindowNumber(window, "peerWin"));
  put.from = View(static_cast<const std::byte*>(data.send), data.count * SizeOf(type));
  put.offset = offset;
  const comm::OneSided& windows = held.communicator->one_sided();
  RINGLET_TRY(windows.Find(put.window));
  if (!windows.HasWindowOf(put.from, NCCL_WIN_COLL_SYMMETRIC))
    return Error{Code::kInvalidArgument,
                 "localbuff is not in a window that was registered with NCCL_WIN_COLL_SYMMETRIC"};
  return SubmitCall({data.comm, std::move(held), put, data.stream});
}

Result<bool> WaitForSignals(int count, const ncclWaitSignalDesc_t* descriptors, ncclComm_t comm,
                            cudaStream_t stream) {
  RINGLET_TRY_ASSIGN(FormedCommunicator held, FindActive(comm));
  RINGLET_TRY(RequireNonNull(descriptors, "signalDescs"));
  if (count < 1) return Error{Code::kInvalidArgument, fmt::format("nDesc is {}, below 1", count)};
  comm::SignalWait wait;
  for (int i = 0; i < count; ++i) {
    const ncclWaitSignalDesc_t& one = descriptors[i];
    const std::string where = fmt::format("signalDescs[{}].", i);
    RINGLET_TRY_ASSIGN(const Rank peer,
                       RankOf(one.peer, (where + "peer").c_str(), *held.communicator));
    RINGLET_TRY(CheckSignal(held, one.ctx, one.sigIdx, where.c_str()));
    if (one.opCnt < 1)
      return Error{Code::kInvalidArgument, fmt::format("{}opCnt is {}, below 1", where, one.opCnt)};
    wait.counts.push_back({.peer = peer,
                           .signal = SignalOf(one.ctx, one.sigIdx),
                           .times = static_cast<std::uint32_t>(one.opCnt)});
  }
  return SubmitCall({comm, std::move(held), std::move(wait), stream});
}

Status MakePreMulSum(ncclRedOp_t* op, const void* scalar, ncclDataType_t datatype,
                     ncclScalarResidence_t residence, ncclComm_t comm) {
  RINGLET_TRY(RequireNonNull(op, "op"));
  RINGLET_TRY(RequireMemory(scalar, "scalar"));
  RINGLET_TRY_ASSIGN(const FormedCommunicator held, FindActive(comm));
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

ncclResult_t ncclAllReduceConfig(const void* sendbuff, void* recvbuff, size_t count,
                                 ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                 cudaStream_t stream, const ncclCollConfig_t* config) {
  return api::GuardBegun("ncclAllReduceConfig", [&] {
    return api::Reduction(CallKind::kAllReduce,
                          {sendbuff, recvbuff, count, datatype, comm, stream, config}, op);
  });
}

ncclResult_t ncclBroadcastConfig(const void* sendbuff, void* recvbuff, size_t count,
                                 ncclDataType_t datatype, int root, ncclComm_t comm,
                                 cudaStream_t stream, const ncclCollConfig_t* config) {
  return api::GuardBegun("ncclBroadcastConfig", [&] {
    return api::Collective(CallKind::kBroadcast,
                           {sendbuff, recvbuff, count, datatype, comm, stream, config}, root);
  });
}

ncclResult_t ncclReduceConfig(const void* sendbuff, void* recvbuff, size_t count,
                              ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm,
                              cudaStream_t stream, const ncclCollConfig_t* config) {
  return api::GuardBegun("ncclReduceConfig", [&] {
    return api::Reduction(CallKind::kReduce,
                          {sendbuff, recvbuff, count, datatype, comm, stream, config}, op, root);
  });
}

ncclResult_t ncclAllGatherConfig(const void* sendbuff, void* recvbuff, size_t sendcount,
                                 ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream,
                                 const ncclCollConfig_t* config) {
  return api::GuardBegun("ncclAllGatherConfig", [&] {
    return api::Collective(CallKind::kAllGather,
                           {sendbuff, recvbuff, sendcount, datatype, comm, stream, config});
  });
}

ncclResult_t ncclReduceScatterConfig(const void* sendbuff, void* recvbuff, size_t recvcount,
                                     ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                     cudaStream_t stream, const ncclCollConfig_t* config) {
  return api::GuardBegun("ncclReduceScatterConfig", [&] {
    return api::Reduction(CallKind::kReduceScatter,
                          {sendbuff, recvbuff, recvcount, datatype, comm, stream, config}, op);
  });
}

ncclResult_t ncclAlltoAllConfig(const void* sendbuff, void* recvbuff, size_t count,
                                ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream,
                                const ncclCollConfig_t* config) {
  return api::GuardBegun("ncclAlltoAllConfig", [&] {
    return api::Collective(CallKind::kAllToAll,
                           {sendbuff, recvbuff, count, datatype, comm, stream, config});
  });
}

ncclResult_t ncclGatherConfig(const void* sendbuff, void* recvbuff, size_t count,
                              ncclDataType_t datatype, int root, ncclComm_t comm,
                              cudaStream_t stream, const ncclCollConfig_t* config) {
  return api::GuardBegun("ncclGatherConfig", [&] {
    return api::Collective(CallKind::kGather,
                           {sendbuff, recvbuff, count, datatype, comm, stream, config}, root);
  });
}

ncclResult_t ncclScatterConfig(const void* sendbuff, void* recvbuff, size_t count,
                               ncclDataType_t datatype, int root, ncclComm_t comm,
                               cudaStream_t stream, const ncclCollConfig_t* config) {
  return api::GuardBegun("ncclScatterConfig", [&] {
    return api::Collective(CallKind::kScatter,
                           {sendbuff, recvbuff, count, datatype, comm, stream, config}, root);
  });
}

ncclResult_t ncclPutSignal(const void* localbuff, size_t count, ncclDataType_t datatype, int peer,
                           ncclWindow_t peerWin, size_t peerWinOffset, int sigIdx, int ctx,
                           unsigned int flags, ncclComm_t comm, cudaStream_t stream) {
  return api::GuardBegun("ncclPutSignal", [&] {
    return api::PutToPeer({localbuff, nullptr, count, datatype, comm, stream},
                          {peer, sigIdx, ctx, flags}, peerWin, peerWinOffset);
  });
}

ncclResult_t ncclSignal(int peer, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm,
                        cudaStream_t stream) {
  return api::GuardBegun("ncclSignal", [&] {
    return api::SignalPeer({peer, sigIdx, ctx, flags}, comm, stream);
  });
}

ncclResult_t ncclWaitSignal(int nDesc, ncclWaitSignalDesc_t* signalDescs, ncclComm_t comm,
                            cudaStream_t stream) {
  return api::GuardBegun("ncclWaitSignal",
                         [&] { return api::WaitForSignals(nDesc, signalDescs, comm, stream); });
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

// Profiling aliases: a tool that defines ncclX calls the original as pncclX.
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
RINGLET_TWIN(ncclAllReduceConfig);
RINGLET_TWIN(ncclBroadcastConfig);
RINGLET_TWIN(ncclReduceConfig);
RINGLET_TWIN(ncclAllGatherConfig);
RINGLET_TWIN(ncclReduceScatterConfig);
RINGLET_TWIN(ncclAlltoAllConfig);
RINGLET_TWIN(ncclGatherConfig);
RINGLET_TWIN(ncclScatterConfig);
RINGLET_TWIN(ncclPutSignal);
RINGLET_TWIN(ncclSignal);
RINGLET_TWIN(ncclWaitSignal);
RINGLET_TWIN(ncclRedOpCreatePreMulSum);
RINGLET_TWIN(ncclRedOpDestroy);
#undef RINGLET_TWIN

}  // extern "C"
