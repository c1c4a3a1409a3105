// The groups that a rank has left, for ranks that still count on it there.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "bootstrap/member/group_frames.hpp"

namespace ringlet::bootstrap {

class LeftGroups {
 public:
  void Add(const Group& group);
  bool Contains(GroupId group) const { return left_.contains(group); }
  /// The answer to a frame of a group that was left, if it needs one. A rank that forms the group
  /// must not wait for this one: it hears of the group's failure, if there was one and it has the
  /// same ranks in mind. A rank that counts on this one to pass a failure on, or to answer, hears
  /// that this one does not.
  /// \pre  Contains
  std::optional<Slice> AnswerTo(const ReceivedInGroup& received) const;
  /// A word for each that it was left.
  std::vector<Slice> Farewells() const;

 private:
  struct Left {
    std::uint64_t digest = 0;           // of the list of its ranks
    std::optional<Slice> failure = {};  // the frame that tells of its failure
  };
  std::unordered_map<GroupId, Left> left_;
};

}  // namespace ringlet::bootstrap
