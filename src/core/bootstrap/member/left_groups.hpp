// The groups that a rank has left, for ranks that still expect it there.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "bootstrap/member/group_frames.hpp"
#include "bootstrap/member/group_membership.hpp"

namespace ringlet::bootstrap {

class LeftGroups {
 public:
  void Add(const GroupMembership& membership);
  bool Contains(GroupId group) const { return left_.contains(group); }
  /// The answers to a frame of a left group. Empty if the frame needs none. A rank that forms the
  /// group must not wait for this one: it receives the group's failure, if any, provided that both
  /// have the same list of ranks. In a reformed group, it receives the lost ranks as well. A rank
  /// that relays a failure or requests an activity receives kLeave.
  /// \pre  Contains
  std::vector<Slice> AnswerTo(const ReceivedInGroup& received) const;
  /// A kLeave frame for each left group.
  std::vector<Slice> LeaveFrames() const;

 private:
  struct Left {
    FormAnnouncement announcement = {};  // as an answer
    std::optional<Slice> failure = {};   // the frame with its failure
  };
  std::unordered_map<GroupId, Left> left_;
};

}  // namespace ringlet::bootstrap
