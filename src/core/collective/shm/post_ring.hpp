// PostRing: determines the post and the payload memory of each operation of ShmCollective, and the
// operations that must be over first. Pure. It depends on the calls only, so all ranks agree
// without communication.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/arena/arena.hpp"

namespace ringlet::collective {

class PostRing {
 public:
  /// \param payload_bytes  size of the ring of payloads; a payload takes at most a quarter of it
  explicit PostRing(std::size_t payload_bytes) : payload_bytes_(payload_bytes) {}

  struct PostSlot {
    std::size_t offset = 0;   ///< of the payload in its ring; the payload is contiguous
    std::uint64_t after = 0;  ///< operations 1 to `after` must be over on all ranks; 0: none
  };
  /// Returns the place of the next operation; the first is number 1. `after` is at least two
  /// operations earlier, so that waiting ranks do not wait for each other.
  /// \param bytes  size of the payload, equal on all ranks; 0: no payload
  PostSlot Next(std::size_t bytes);

 private:
  static constexpr std::uint64_t kPosts = transport::ArenaShape::kPosts;

  std::size_t payload_bytes_;
  std::uint64_t sequence_ = 0;
  std::uint64_t end_ = 0;   // total size of all payloads so far, as if the ring were infinite
  std::uint64_t over_ = 0;  // operations that had to be over for the last one
  std::array<std::uint64_t, kPosts> begins_ = {};  // of the payloads, by sequence
};

}  // namespace ringlet::collective
