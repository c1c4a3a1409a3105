// What plan::Search decides: in which orders ranks pass data on, and how fast that can be.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"
#include "topology/bandwidth.hpp"

namespace ringlet::plan {

/// One ring: each rank sends to the next, the last to the first.
struct Channel {
  std::vector<Rank> ranks;        ///< every rank once
  topology::Bandwidth bandwidth;  ///< of the narrowest hop, one direction
  bool operator==(const Channel&) const = default;
};

struct ChannelPlan {
  std::vector<Channel> channels;  ///< at least one; all of the same ranks
  bool operator==(const ChannelPlan&) const = default;

  /// Equal for equal plans, on every machine. Ranks compare these 8 bytes in place of plans.
  std::uint64_t digest() const;

  /// Whether there is a channel and each is a permutation of 0 to n-1, with the same n.
  /// Errors  kInvalidArgument  names the first channel that is not
  Status Check() const;
};

/// Appends the plan: 2 + channels * (8 + 4 * ranks) bytes.
void Encode(Writer& out, const ChannelPlan& plan);
/// Fails `in` on anything that Check refuses.
ChannelPlan DecodeChannelPlan(Reader& in);

/// A line a channel: "channel 0: 17000 MB/s, ring 0 1 2 3".
std::string ToText(const ChannelPlan& plan);

inline constexpr std::size_t kChannelsMax = 64;  // NCCL's MAXCHANNELS

}  // namespace ringlet::plan
