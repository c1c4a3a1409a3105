// Converts messages of a line, a communicator of two. Its ranks are seats, but users know only
// ranks of the group.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ringlet::torch_api {

/// Ranks of the group.
struct Seats {
  std::uint32_t sender = 0;    ///< seat 0
  std::uint32_t receiver = 0;  ///< seat 1
};

/// Replaces "rank 0" and "rank 1" of a line's message by ranks of the group.
std::string InRanksOfGroup(std::string_view sentence, const Seats& seats);

}  // namespace ringlet::torch_api
