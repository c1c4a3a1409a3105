// Messages between two ranks. Each function checks its arguments and adds the message to the queue
// of its group, without a turn. Included by module.cpp only.
#pragma once
#include "pytorch/launch/launcher.hpp"

namespace ringlet::torch_api {

inline WorkPointer LaunchSend(Launcher& launcher, Tensors& tensors, int to, int tag) {
  const at::Tensor dense = Dense(OnlyOne(tensors, "send"));
  launcher.place().CheckPeer(to, "send");
  auto work =
      launcher.Begin(launcher.Describe(c10d::OpType::SEND, "send", NoOptions(), tensors, {}));
  launcher.life().p2p_queue()->Send(
      static_cast<std::uint32_t>(to), tag, BytesOf(dense),
      [&launcher, work, dense](Status status) { launcher.End(*work, "send", status); });
  return launcher.Coalesce(work);
}

/// \param from  empty: from any rank
inline WorkPointer LaunchReceive(Launcher& launcher, Tensors& tensors,
                                 std::optional<std::uint32_t> from, int tag) {
  const at::Tensor tensor = OnlyOne(tensors, "recv");
  CheckWritten(tensor, "recv");
  const at::Tensor room = Room(tensor);
  const auto type = from ? c10d::OpType::RECV : c10d::OpType::RECVANYSOURCE;
  const char* const name = from ? "recv" : "recvAnySource";
  OperationInfo info = launcher.Describe(type, name, NoOptions(), tensors, tensors);
  info.detail =
      fmt::format("from {} with tag {}", from ? fmt::format("rank {}", *from) : "any rank", tag);
  auto work = launcher.Begin(info);
  const auto done = [&launcher, work, room, tensor, name](Status status, std::uint32_t sender) {
    const at::NoGradGuard no_gradients;
    if (status.ok()) Deliver(room, tensor);
    work->set_source(static_cast<int>(sender));
    launcher.End(*work, name, status);
  };
  GroupLifecycle& life = launcher.life();
  const std::uint64_t number =
      life.p2p_queue()->Receive({.from = from, .tag = tag, .room = RoomOf(room), .done = done});
  work->set_withdrawal([&life, number] {
    P2pQueue* const queue = life.p2p_queue();
    return queue != nullptr && queue->Withdraw(number);
  });
  return launcher.Coalesce(work);
}

}  // namespace ringlet::torch_api
