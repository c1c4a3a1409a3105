// SentBytes: counts the bytes that a rank passes to its links.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "ringlet/types.hpp"

namespace ringlet::collective {

/// Counts by receiving rank and channel. Only one thread uses it.
class SentBytes {
 public:
  using ByChannel = std::map<std::pair<Rank, std::uint16_t>, std::uint64_t>;

  void Add(Rank peer, std::uint16_t channel, std::size_t bytes) {
    bytes_[{peer, channel}] += bytes;
  }
  const ByChannel& all() const { return bytes_; }

 private:
  ByChannel bytes_;
};

}  // namespace ringlet::collective
