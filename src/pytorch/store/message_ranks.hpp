// Converts messages of a line, a communicator of two. Its ranks are pair ranks, but users know only
// ranks of the group.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ringlet::torch_api {

/// Ranks of the group.
struct MessageRanks {
  std::uint32_t sender = 0;    ///< pair rank 0
  std::uint32_t receiver = 0;  ///< pair rank 1
};

/// Replaces "rank 0" and "rank 1" of a line's message by ranks of the group.
std::string InRanksOfGroup(std::string_view sentence, const MessageRanks& message_ranks);

}  // namespace ringlet::torch_api
