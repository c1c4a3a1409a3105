// Which post and which part of the payloads an operation of ShmCollective uses, and which
// operations have to be over before. Pure: from the calls alone, so the same on all ranks without a
// word.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/arena/arena.hpp"

namespace ringlet::collective {

class PostRing {
 public:
  /// \param payload_bytes  of the ring of payloads; a payload takes at most a quarter of it
  explicit PostRing(std::size_t payload_bytes) : payload_bytes_(payload_bytes) {}

  struct Place {
    std::size_t offset = 0;   ///< of the payload in its ring; it lies there in one piece
    std::uint64_t after = 0;  ///< operations 1 to this must be over on all ranks; 0: none
  };
  /// For the next operation; the first is 1. `after` is at least two operations back: ranks that
  /// wait for it do not wait for each other.
  /// \param bytes  of payload, the same on all ranks; 0: none
  Place Next(std::size_t bytes);

 private:
  static constexpr std::uint64_t kPosts = transport::ArenaShape::kPosts;

  std::size_t payload_bytes_;
  std::uint64_t sequence_ = 0;
  std::uint64_t end_ = 0;   // of all payloads so far, as if there was no ring
  std::uint64_t over_ = 0;  // operations that had to be over for the last one
  std::array<std::uint64_t, kPosts> begins_ = {};  // of the payloads, by sequence
};

}  // namespace ringlet::collective
