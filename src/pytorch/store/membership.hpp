// Groups whose members change: what ranks tell each other of themselves, and what comes of it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet::torch_api {

/// A rank, as others name it among the members of a group that is to be formed. As text,
/// "ringlet:MEMBER:GENERATION".
struct MemberHandle {
  std::string member;            ///< letters, digits and dots; no other rank has it
  std::uint64_t generation = 0;  ///< how often its group was formed anew before

  std::string Text() const;
  /// Errors  kInvalidArgument  it is not such a text
  static Result<MemberHandle> Parse(std::string_view text);
};

/// The place of a rank in the group to come.
struct NewSeat {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
};

/// Pure. \param handles  of all members, in the order of their ranks
/// Errors  kInvalidArgument  `own` is not among them, or from before its last change; one comes
///         twice, or is none
Result<NewSeat> SeatAmong(const std::vector<std::string>& handles, const MemberHandle& own);

}  // namespace ringlet::torch_api
