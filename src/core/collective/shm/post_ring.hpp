// PostRing: determines the memory of each item in a ring, and the items that must be over first. An
// item is an operation of ShmCollective with its payload, or a slice of PipelinedShm. Pure. It
// depends on the calls only, so all ranks agree without communication.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/arena/arena.hpp"

namespace ringlet::collective {

class PostRing {
 public:
  /// Maximum number of items that a rank may be ahead.
  static constexpr std::uint64_t kPosts = transport::ArenaShape::kPosts;

  /// \param payload_bytes  size of the ring of payloads; a payload takes at most half of it
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
  std::size_t payload_bytes_;
  std::uint64_t sequence_ = 0;
  std::uint64_t end_ = 0;   // total size of all payloads so far, as if the ring were infinite
  std::uint64_t over_ = 0;  // operations that had to be over for the last one
  std::array<std::uint64_t, kPosts> begins_ = {};  // of the payloads, by sequence
};

}  // namespace ringlet::collective
