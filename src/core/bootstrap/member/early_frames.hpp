// Frames of groups that other ranks have formed earlier than this one. They wait, within bounds,
// until this rank forms the group.
#pragma once
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "bootstrap/group.hpp"

namespace ringlet::bootstrap {

struct EarlyFrame {
  std::uint32_t from;
  FrameType type;
  Slice payload;  ///< owned
};

class EarlyFrames {
 public:
  static constexpr std::size_t kFramesMax = 65'536;
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;

  /// Returns false, and drops the frame, if a bound is exceeded.
  bool Keep(GroupId group, EarlyFrame frame) {
    bytes_ += frame.payload.bytes.size();
    if (++frames_ > kFramesMax || bytes_ > kBytesMax) return false;
    waiting_[group].push_back(std::move(frame));
    return true;
  }
  /// Removes and returns the frames of a group in order of arrival.
  std::vector<EarlyFrame> Take(GroupId group) {
    auto node = waiting_.extract(group);
    if (node.empty()) return {};
    frames_ -= node.mapped().size();
    for (const EarlyFrame& frame : node.mapped()) bytes_ -= frame.payload.bytes.size();
    return std::move(node.mapped());
  }
  /// The error text, without the name, for a rank that sends more than `self` may keep.
  static std::string TooMany(std::uint32_t self) {
    return fmt::format(
        "sends more frames to a communicator than rank {} can hold until it forms that "
        "communicator",
        self);
  }

 private:
  std::map<GroupId, std::vector<EarlyFrame>> waiting_;
  std::size_t bytes_ = 0, frames_ = 0;
};

}  // namespace ringlet::bootstrap
