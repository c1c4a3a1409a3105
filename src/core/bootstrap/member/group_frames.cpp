#include "bootstrap/member/group_frames.hpp"

#include <algorithm>
#include <functional>

namespace ringlet::bootstrap {

Slice GroupFrame(GroupId id, FrameType type, View head, View body) {
  Writer out = BeginFrame(static_cast<std::uint8_t>(type));
  return Slice(Share(EndFrame(std::move(out.U64(id).Raw(head).Raw(body)))));
}

Slice FormFrame(GroupId id, const FormAnnouncement& announcement) {
  Writer payload;
  payload.U64(announcement.digest);
  if (const auto& lost = announcement.lost) {
    payload.U64(lost->lineage).U8(lost->answers ? 1 : 0);
    for (const std::uint32_t rank : lost->ranks) payload.U32(rank);
  }
  return GroupFrame(id, FrameType::kForm, payload.view());
}

std::optional<FormAnnouncement> ReadForm(View payload) {
  Reader in(payload);
  FormAnnouncement announcement{.digest = in.U64()};
  if (in.ok() && !in.AtEnd()) {
    announcement.lost = LostRanks{.lineage = in.U64(), .answers = in.U8() != 0};
    std::vector<std::uint32_t>& ranks = announcement.lost->ranks;
    ranks.reserve(in.remaining() / 4);
    while (in.ok() && !in.AtEnd()) ranks.push_back(in.U32());
    if (std::ranges::adjacent_find(ranks, std::greater_equal()) != ranks.end()) return std::nullopt;
  }
  return in.ok() ? std::optional(std::move(announcement)) : std::nullopt;
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

std::optional<FormAnnouncement> ReadFormation(const ReceivedInGroup& received) {
  if (received.type == FrameType::kForm) return ReadForm(received.payload.bytes);
  if (received.type != FrameType::kGather) return std::nullopt;
  Reader in(received.payload.bytes);
  return FormAnnouncement{.digest = DecodeGatherHeader(in).group_digest};
}

}  // namespace ringlet::bootstrap
