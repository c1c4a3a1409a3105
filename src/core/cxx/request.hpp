// Unchecked calls of the C++ interface, and their conversion for comm.
#pragma once
#include "comm/run/communicator.hpp"
#include "ringlet/buffer.hpp"

namespace ringlet::cxx {

struct Request {
  comm::CallKind kind = comm::CallKind::kBarrier;
  SendBuffer send = {};
  ReceiveBuffer receive = {};
  ReduceOp op = ReduceOp::kSum;
  Rank root{};
};

struct MessageRequest {
  Rank peer{};
  bool sends = false;
  SendBuffer from = {};
  ReceiveBuffer to = {};
};

/// Returns the call that this rank's buffers describe. Communicator::Run makes the checks that need
/// neither lengths nor types.
/// Errors  kInvalidArgument  lengths or types that do not fit each other; null with a length; more
///                           elements than fit into any memory
Result<comm::Work> WorkOf(const Request& request, const comm::Communicator& communicator);
Result<comm::Work> WorkOf(const MessageRequest& request, const comm::Communicator& communicator);

// One function per call, used by Communicator and Group.

inline Request AllReduceOf(SendBuffer send, ReceiveBuffer receive, ReduceOp op) {
  return {.kind = comm::CallKind::kAllReduce, .send = send, .receive = receive, .op = op};
}
inline Request ReduceOf(SendBuffer send, ReceiveBuffer receive, ReduceOp op, Rank root) {
  return {
      .kind = comm::CallKind::kReduce, .send = send, .receive = receive, .op = op, .root = root};
}
inline Request BroadcastOf(ReceiveBuffer data, Rank root) {
  return {.kind = comm::CallKind::kBroadcast,
          .send = {data.data(), data.count(), data.type()},
          .receive = data,
          .root = root};
}
inline Request AllGatherOf(SendBuffer send, ReceiveBuffer receive) {
  return {.kind = comm::CallKind::kAllGather, .send = send, .receive = receive};
}
inline Request ReduceScatterOf(SendBuffer send, ReceiveBuffer receive, ReduceOp op) {
  return {.kind = comm::CallKind::kReduceScatter, .send = send, .receive = receive, .op = op};
}
inline Request AllToAllOf(SendBuffer send, ReceiveBuffer receive) {
  return {.kind = comm::CallKind::kAllToAll, .send = send, .receive = receive};
}
inline Request ScatterOf(SendBuffer send, ReceiveBuffer receive, Rank root) {
  return {.kind = comm::CallKind::kScatter, .send = send, .receive = receive, .root = root};
}
inline Request GatherOf(SendBuffer send, ReceiveBuffer receive, Rank root) {
  return {.kind = comm::CallKind::kGather, .send = send, .receive = receive, .root = root};
}
inline MessageRequest SendOf(SendBuffer data, Rank to) {
  return {.peer = to, .sends = true, .from = data};
}
inline MessageRequest ReceiveOf(ReceiveBuffer data, Rank from) {
  return {.peer = from, .to = data};
}

}  // namespace ringlet::cxx
