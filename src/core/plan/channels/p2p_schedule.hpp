// The order of sends and receives among ranks, which is NCCL's. In each round, a rank sends to one
// rank and receives from one rank. At() computes a round on request and stores no state per rank.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/channels/p2p_channels.hpp"
#include "ringlet/types.hpp"

namespace ringlet::plan {

/// The work of one rank in a round. The send and the receive run at the same time.
struct P2pRound {
  Rank to{0};
  Rank from{0};
  std::uint32_t first_channel = 0;  ///< part p uses channel first_channel + p, modulo total
  bool operator==(const P2pRound&) const = default;
};

class P2pSchedule {
 public:
  /// \param node_ranks  number of ranks of each node, at least 1; ranks are consecutive from 0
  /// Source  NCCL 2.30: groups of up to 8 ranks; distances between groups are 0, 1, 3, 6, 10, ...
  P2pSchedule(std::span<const std::uint32_t> node_ranks, const P2pChannels& channels);

  std::uint32_t rank_count() const { return group_size_ * groups(); }
  /// Equals the number of ranks. In round 0, a rank exchanges data with itself.
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
  std::vector<std::uint32_t> distances_;  // between groups, in the order of rounds
};

}  // namespace ringlet::plan
