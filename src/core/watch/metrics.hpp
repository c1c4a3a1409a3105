// Counters of a process and its communicators, and their text for Prometheus. Pure.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/wire/machine.hpp"

namespace ringlet::watch {

/// Buckets of sizes are powers of 8: up to 1, 8, 64, ..., 2^30 bytes, and above.
inline constexpr std::size_t kSizeBuckets = 12;
inline std::size_t SizeBucketOf(std::uint64_t bytes) {
  if (bytes <= 1) return 0;
  const auto bucket = static_cast<std::size_t>(std::bit_width(bytes - 1) + 2) / 3;
  return bucket < kSizeBuckets ? bucket : kSizeBuckets - 1;
}

/// Counters of one kind of operation.
struct CallCounts {
  std::string call = {};
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, kSizeBuckets> sizes{};  ///< operation counts by SizeBucketOf

  std::uint64_t operations() const;
};

/// Buckets of times are powers of 10: up to 100 us, 1 ms, ..., 100 s, and above.
struct WaitTimes {
  static constexpr std::size_t kBuckets = 8;
  std::array<std::uint64_t, kBuckets> waits{};
  Instant total{0};

  void Add(Instant wait);
};

/// Counters of one rank on one communicator.
struct OperationCounts {
  std::vector<CallCounts> calls = {};  ///< the called kinds only
  /// Total time that this rank waited for each peer.
  std::vector<std::pair<std::uint32_t, Instant>> waited = {};
  WaitTimes wait_times = {};
};

struct CommunicatorMetrics {
  std::string communicator = {};
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  bool failed = false;
  std::uint64_t in_progress = 0;  ///< running operations
  OperationCounts counts = {};
};

struct ProcessMetrics {
  std::string host = {};
  std::uint32_t pid = 0;
  std::vector<CommunicatorMetrics> communicators = {};
  std::uint64_t control_bytes_sent = 0, control_bytes_received = 0;
  std::uint64_t connections_made = 0, connections_accepted = 0;
  std::uint64_t connections_failed = 0, strangers_refused = 0;
  std::uint64_t descriptor_shortages = 0;
};

/// Returns OpenMetrics text for Prometheus; ends with "# EOF".
std::string ToOpenMetrics(const ProcessMetrics& metrics);

}  // namespace ringlet::watch
