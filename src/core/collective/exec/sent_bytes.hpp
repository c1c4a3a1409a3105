// The bytes that a rank has given to its links, counted as it gives them.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "ringlet/types.hpp"

namespace ringlet::collective {

/// By the rank that it went to, and the channel. One thread.
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
