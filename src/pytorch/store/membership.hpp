// Handles and seats of the members of a group that changes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet::torch_api {

/// Identifies a rank among the members of a future group. As text, "ringlet:MEMBER:GENERATION".
struct MemberHandle {
  std::string member;            ///< letters, digits and dots; unique among ranks
  std::uint64_t generation = 0;  ///< how often its group was formed anew

  std::string Text() const;
  /// Errors  kInvalidArgument  the text has another form
  static Result<MemberHandle> Parse(std::string_view text);
};

/// The position of a rank in the future group.
struct MemberRank {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
};

/// Pure. \param handles  of all members, in rank order
/// Errors  kInvalidArgument  `own` is missing or outdated; a handle is malformed or occurs twice
Result<MemberRank> FindMemberRank(const std::vector<std::string>& handles, const MemberHandle& own);

}  // namespace ringlet::torch_api
