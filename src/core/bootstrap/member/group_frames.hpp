// The frames of one group: the id of the group, then the payload that the group reads.
#pragma once
#include <optional>

#include "bootstrap/group.hpp"

namespace ringlet::bootstrap {

Slice GroupFrame(GroupId id, FrameType type, View head = {}, View body = {});
/// The word of a rank that has formed a group of these ranks.
Slice FormFrame(GroupId id, std::uint64_t digest);
Slice GroupFailureFrame(GroupId id, const Failure& failure);

struct ReceivedInGroup {
  GroupId group;
  FrameType type;
  Slice payload;  ///< behind the id; it lives as long as that of the frame
};
/// Nothing, where the frame is too short for an id.
std::optional<ReceivedInGroup> ReadGroupFrame(const Frame& frame);

}  // namespace ringlet::bootstrap
