// TuningTable: measured choices of algorithms. `ringlet bench --tune` writes them and
// RINGLET_TUNE_FILE names the file to read. Pure.
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

/// The fastest algorithm for calls up to a size, with given numbers of ranks and hosts.
struct TunedChoice {
  CallKind kind = CallKind::kAllReduce;
  std::uint32_t ranks = 1;
  std::uint32_t hosts = 1;
  std::size_t bytes_max = 0;               ///< compared with BlockBytes of the call
  Algorithm algorithm = Algorithm::kRing;  ///< over links, or through the memory of one host
  bool operator==(const TunedChoice&) const = default;
};
/// Applies to all sizes above the other choices.
inline constexpr std::size_t kAnyBytes = SIZE_MAX;

/// Measured latency, overhead and bandwidth of links. They replace those of CostModel.
struct MeasuredLinks {
  std::optional<LinkCost> local = {};
  std::optional<LinkCost> remote = {};
  bool operator==(const MeasuredLinks&) const = default;
};

class TuningTable {
 public:
  TuningTable() = default;
  /// \pre  no two choices agree in operation, ranks, hosts, bytes and medium (links or shared
  ///       memory)
  explicit TuningTable(std::vector<TunedChoice> choices, MeasuredLinks links = {});

  /// Parses lines such as
  ///
  ///   all_reduce ranks 8 hosts 4 bytes 65536 hierarchical_doubling
  ///   all_reduce ranks 8 hosts 4 bytes any ring
  ///   all_reduce ranks 4 hosts 1 bytes 8192 one_shot
  ///   link remote latency_ns 25000 overhead_ns 5000 mb_per_s 1200
  ///
  /// in any order; "#" begins a comment. The first line is "ringlet-tuning 1".
  /// \param path  for errors
  /// Errors  kInvalidArgument  names path and line, and states the valid syntax
  static Result<TuningTable> Parse(std::string_view text, std::string_view path);

  /// Returns the choice with the smallest bytes_max that is at least `bytes`. Empty without any.
  /// \param on_shared_memory  selects choices through shared memory, or else over links
  std::optional<Algorithm> For(CallKind kind, std::uint32_t ranks, std::uint32_t hosts,
                               std::size_t bytes, bool on_shared_memory) const;
  /// Returns bytes_max of all choices through shared memory.
  std::vector<std::size_t> BoundsOf(CallKind kind, std::uint32_t ranks) const;

  /// Returns `model` with measured links in place of its own, for calls without a measured choice.
  CostModel WithMeasuredLinks(CostModel model) const;

  /// The inverse of Parse. \param comment  a line to add at the top, without "#"; may be empty
  std::string ToText(std::string_view comment) const;
  bool empty() const { return *this == TuningTable(); }
  bool operator==(const TuningTable&) const = default;

 private:
  std::vector<TunedChoice> choices_;  // sorted
  MeasuredLinks links_;
};

}  // namespace ringlet::collective
