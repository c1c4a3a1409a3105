// Choices of algorithms that were measured rather than computed: what `ringlet bench --tune` writes
// and RINGLET_TUNE_FILE reads back. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collective/algorithm/algorithm.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {

/// The fastest algorithm for calls of up to so many bytes among so many ranks on so many hosts.
struct TunedChoice {
  CallKind kind = CallKind::kAllReduce;
  std::uint32_t ranks = 1;
  std::uint32_t hosts = 1;
  std::size_t bytes_max = 0;               ///< BlockBytes of the call
  Algorithm algorithm = Algorithm::kRing;  ///< over links, or through the memory of one host
  bool operator==(const TunedChoice&) const = default;
};
/// For all that is larger than the others.
inline constexpr std::size_t kAnyBytes = SIZE_MAX;

/// Links whose latency, cost of messages and bandwidth were measured, in place of CostModel's.
struct MeasuredLinks {
  std::optional<LinkCost> local = {};
  std::optional<LinkCost> remote = {};
  bool operator==(const MeasuredLinks&) const = default;
};

class TuningTable {
 public:
  TuningTable() = default;
  /// \pre  no two choices are for the same operation, ranks, hosts and bytes, and both over links
  ///       or both through shared memory
  explicit TuningTable(std::vector<TunedChoice> choices, MeasuredLinks links = {});

  /// Lines of
  ///
  ///   all_reduce ranks 8 hosts 4 bytes 65536 hierarchical_doubling
  ///   all_reduce ranks 8 hosts 4 bytes any ring
  ///   all_reduce ranks 4 hosts 1 bytes 8192 one_shot
  ///   link remote latency_ns 25000 overhead_ns 5000 mb_per_s 1200
  ///
  /// in any order; "#" begins a comment. The first line is "ringlet-tuning 1".
  /// \param path  for errors
  /// Errors  kInvalidArgument  names path and line, and says what may stand there
  static Result<TuningTable> Parse(std::string_view text, std::string_view path);

  /// The choice with the smallest bytes_max that reaches `bytes`. Empty where nothing was measured.
  /// \param on_shared_memory  whether of those through shared memory, or of those over links
  std::optional<Algorithm> For(CallKind kind, std::uint32_t ranks, std::uint32_t hosts,
                               std::size_t bytes, bool on_shared_memory) const;
  /// The bytes_max of all choices through shared memory.
  std::vector<std::size_t> BoundsOf(CallKind kind, std::uint32_t ranks) const;

  /// The model that counts where no choice was measured: `model` with the links that were.
  CostModel Over(CostModel model) const;

  /// The result of Parse. \param comment one line that stands above, without "#"; may be empty
  std::string ToText(std::string_view comment) const;
  bool empty() const { return *this == TuningTable(); }
  bool operator==(const TuningTable&) const = default;

 private:
  std::vector<TunedChoice> choices_;  // sorted
  MeasuredLinks links_;
};

}  // namespace ringlet::collective
