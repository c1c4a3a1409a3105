// The frames of one group: the id of the group, then the payload for the group.
#pragma once
#include <optional>

#include "bootstrap/group.hpp"

namespace ringlet::bootstrap {

Slice GroupFrame(GroupId id, FrameType type, View head = {}, View body = {});
/// Announces that the sender has formed a group with these ranks.
Slice FormFrame(GroupId id, std::uint64_t digest);
Slice GroupFailureFrame(GroupId id, const Failure& failure);

struct ReceivedInGroup {
  GroupId group;
  FrameType type;
  Slice payload;  ///< the part after the id; valid as long as the frame's payload
};
/// Returns empty if the frame is too short for an id.
std::optional<ReceivedInGroup> ReadGroupFrame(const Frame& frame);

}  // namespace ringlet::bootstrap
