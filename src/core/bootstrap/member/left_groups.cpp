#include "bootstrap/member/left_groups.hpp"

namespace ringlet::bootstrap {

void LeftGroups::Add(const GroupProtocol& group) {
  Left& left = left_[group.id()];
  left.digest = group.digest();
  if (const auto& failure = group.failure()) left.failure = GroupFailureFrame(group.id(), *failure);
}

std::optional<Slice> LeftGroups::AnswerTo(const ReceivedInGroup& received) const {
  const auto& [id, type, payload] = received;
  const Left& left = left_.at(id);
  Reader in(payload.bytes);
  const bool forms = type == FrameType::kForm || type == FrameType::kGather;
  const std::uint64_t digest =
      type == FrameType::kForm ? in.U64() : DecodeGatherHeader(in).group_digest;
  if (forms && digest != left.digest) return FormFrame(id, left.digest);
  if (forms && left.failure) return left.failure;
  if (forms || type == FrameType::kFailure || type == FrameType::kAsk)
    return GroupFrame(id, FrameType::kLeave);
  return std::nullopt;
}

std::vector<Slice> LeftGroups::LeaveFrames() const {
  std::vector<Slice> farewells;
  for (const auto& [id, left] : left_) farewells.push_back(GroupFrame(id, FrameType::kLeave));
  return farewells;
}

}  // namespace ringlet::bootstrap
