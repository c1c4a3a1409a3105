// The order in which ranks send to each other and receive, so that no rank waits for a crowd:
// NCCL's rounds. Worked out when asked for; nothing is kept per rank.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/channels/p2p_channels.hpp"
#include "ringlet/types.hpp"

namespace ringlet::plan {

/// The work of one rank in a round: both at once.
struct P2pRound {
  Rank to{0};
  Rank from{0};
  std::uint32_t first_channel = 0;  ///< part p of a message takes channel first + p, modulo total
  bool operator==(const P2pRound&) const = default;
};

class P2pSchedule {
 public:
  /// \param node_ranks  how many ranks each node has, which follow one another from rank 0 on; each
  ///                    at least 1
  /// Source  NCCL 2.30: groups of up to 8 ranks; distances between groups are 0, 1, 3, 6, 10, ...
  P2pSchedule(std::span<const std::uint32_t> node_ranks, const P2pChannels& channels);

  std::uint32_t rank_count() const { return group_size_ * groups(); }
  /// As many rounds as ranks: in one of them, the first, a rank meets itself.
  std::uint32_t round_count() const { return rank_count(); }
  /// \pre round < round_count(), rank < rank_count()
  P2pRound At(std::uint32_t round, Rank rank) const;
  std::uint32_t ChannelOf(const P2pRound& round, std::uint32_t part) const {
    return (round.first_channel + part) % channels_.total;
  }
  const P2pChannels& channels() const { return channels_; }

 private:
  std::uint32_t groups() const { return static_cast<std::uint32_t>(distances_.size()); }

  P2pChannels channels_;
  bool one_node_ = true;
  std::uint32_t group_size_ = 1;
  std::vector<std::uint32_t> distances_;  // between groups, in order of rounds
};

}  // namespace ringlet::plan
