// The frames of one group: the id of the group, then the payload for the group.
#pragma once
#include <optional>
#include <vector>

#include "bootstrap/group.hpp"

namespace ringlet::bootstrap {

Slice GroupFrame(GroupId id, FrameType type, View head = {}, View body = {});
/// The part of an announcement that only a reformed group has.
struct LostRanks {
  GroupId lineage = kWorld;               ///< the group that was reformed first
  bool answers = false;                   ///< the receiver must not answer it
  std::vector<std::uint32_t> ranks = {};  ///< of the world, as far as the sender knows; ascending
};
/// Announces that the sender has formed a group.
struct FormAnnouncement {
  std::uint64_t digest = 0;  ///< of the list of its ranks
  std::optional<LostRanks> lost = {};
};
Slice FormFrame(GroupId id, const FormAnnouncement& announcement);
/// Returns empty if the payload does not parse, or if the ranks are not ascending. A rank may
/// exceed the size of the world, so the caller checks that.
std::optional<FormAnnouncement> ReadForm(View payload);
Slice GroupFailureFrame(GroupId id, const Failure& failure);

struct ReceivedInGroup {
  GroupId group;
  FrameType type;
  Slice payload;  ///< the part after the id; valid as long as the frame's payload
};
/// Returns empty if the frame is too short for an id.
std::optional<ReceivedInGroup> ReadGroupFrame(const Frame& frame);
/// Returns the contents of a kForm frame, or the digest of a kGather frame as an announcement.
/// Empty for other frames.
std::optional<FormAnnouncement> ReadFormation(const ReceivedInGroup& received);

}  // namespace ringlet::bootstrap
