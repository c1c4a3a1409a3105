#include "bootstrap/member/left_groups.hpp"

namespace ringlet::bootstrap {

void LeftGroups::Add(const GroupMembership& membership) {
  const GroupProtocol& group = membership.group;
  Left& left = left_[group.id()];
  left.announcement = membership.Announcement(/*answers=*/true);
  if (const auto& failure = group.failure()) left.failure = GroupFailureFrame(group.id(), *failure);
}

std::vector<Slice> LeftGroups::AnswerTo(const ReceivedInGroup& received) const {
  const GroupId id = received.group;
  const FrameType type = received.type;
  const Left& left = left_.at(id);
  const auto formed = ReadFormation(received);
  if (!formed && type != FrameType::kFailure && type != FrameType::kAsk) return {};
  if (formed && formed->lost && formed->lost->answers) return {};
  std::vector<Slice> answers;
  const bool differs = formed && formed->digest != left.announcement.digest;
  if (differs || (formed && left.announcement.lost))
    answers.push_back(FormFrame(id, left.announcement));
  if (differs) return answers;
  answers.push_back(formed && left.failure ? *left.failure : GroupFrame(id, FrameType::kLeave));
  return answers;
}

std::vector<Slice> LeftGroups::LeaveFrames() const {
  std::vector<Slice> farewells;
  for (const auto& [id, left] : left_) farewells.push_back(GroupFrame(id, FrameType::kLeave));
  return farewells;
}

}  // namespace ringlet::bootstrap
