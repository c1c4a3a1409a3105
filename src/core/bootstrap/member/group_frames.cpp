#include "bootstrap/member/group_frames.hpp"

namespace ringlet::bootstrap {

Slice GroupFrame(GroupId id, FrameType type, View head, View body) {
  Writer out = BeginFrame(static_cast<std::uint8_t>(type));
  return Slice(Share(EndFrame(std::move(out.U64(id).Raw(head).Raw(body)))));
}

Slice FormFrame(GroupId id, std::uint64_t digest) {
  Writer payload;
  return GroupFrame(id, FrameType::kForm, payload.U64(digest).view());
}

Slice GroupFailureFrame(GroupId id, const Failure& failure) {
  Writer payload;
  Encode(payload, failure);
  return GroupFrame(id, FrameType::kFailure, payload.view());
}

std::optional<ReceivedInGroup> ReadGroupFrame(const Frame& frame) {
  Reader in(frame.payload.bytes);
  const GroupId id = in.U64();
  if (!in.ok()) return std::nullopt;
  return ReceivedInGroup{id, static_cast<FrameType>(frame.type),
                         Slice(frame.payload.bytes.subspan(8), frame.payload.owner)};
}

}  // namespace ringlet::bootstrap
