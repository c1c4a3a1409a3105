// The ranks on a line: a communicator of two, whose ranks are its seats. Its messages must reach
// the user in the ranks of the group, the only ones that the user knows.
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

/// "rank 0" and "rank 1" of a line's sentence as ranks of the group; all else as it is.
std::string InRanksOfGroup(std::string_view sentence, const Seats& seats);

}  // namespace ringlet::torch_api
