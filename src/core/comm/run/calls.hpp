// The operations of a communicator by name. Each blocks as Communicator::Run does, with its errors.
#pragma once
#include <utility>

#include "comm/run/communicator.hpp"

namespace ringlet::comm {

inline Status RunAs(CallKind kind, Communicator& communicator, Call& call) {
  call.kind = kind;
  return communicator.Run(call);
}

/// Every rank receives the reduction of all inputs.
inline Status AllReduce(Communicator& communicator, Call call) {
  return RunAs(CallKind::kAllReduce, communicator, call);
}
/// The root receives the reduction of all inputs.
inline Status Reduce(Communicator& communicator, Call call) {
  return RunAs(CallKind::kReduce, communicator, call);
}
/// Rank r receives the r-th block of the reduction.
inline Status ReduceScatter(Communicator& communicator, Call call) {
  return RunAs(CallKind::kReduceScatter, communicator, call);
}
/// Every rank receives the root's input.
inline Status Broadcast(Communicator& communicator, Call call) {
  return RunAs(CallKind::kBroadcast, communicator, call);
}
/// Every rank receives the inputs of all, in the order of their ranks.
inline Status AllGather(Communicator& communicator, Call call) {
  return RunAs(CallKind::kAllGather, communicator, call);
}
/// The root receives the inputs of all, in the order of their ranks.
inline Status Gather(Communicator& communicator, Call call) {
  return RunAs(CallKind::kGather, communicator, call);
}
/// Rank r receives the r-th block of the root's input.
inline Status Scatter(Communicator& communicator, Call call) {
  return RunAs(CallKind::kScatter, communicator, call);
}
/// Rank r receives the r-th block of every rank's input, in the order of the ranks.
inline Status AllToAll(Communicator& communicator, Call call) {
  return RunAs(CallKind::kAllToAll, communicator, call);
}
inline Status AllToAllV(Communicator& communicator, AllToAllVCall call) {
  return communicator.Run(Work(std::move(call)));
}
/// Returns when all ranks have called it.
inline Status Barrier(Communicator& communicator) {
  return communicator.Run(Call{.kind = CallKind::kBarrier});
}
/// Returns when the data may be overwritten, possibly before `to` has received them.
inline Status Send(Communicator& communicator, Rank to, View data, std::size_t count,
                   DataType type) {
  const Transfer transfer{.peer = to, .sends = true, .from = data, .count = count, .type = type};
  return communicator.Run({&transfer, 1});
}
inline Status Receive(Communicator& communicator, Rank from, std::span<std::byte> data,
                      std::size_t count, DataType type) {
  const Transfer transfer{.peer = from, .to = data, .count = count, .type = type};
  return communicator.Run({&transfer, 1});
}

}  // namespace ringlet::comm
