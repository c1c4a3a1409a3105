// Choices of algorithms that were measured rather than computed: what `ringlet bench --tune` writes
// and RINGLET_TUNE_FILE reads back. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collective/algorithm.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {

/// What was fastest for calls of up to so many bytes among so many ranks on so many hosts.
struct TunedChoice {
  CallKind kind = CallKind::kAllReduce;
  std::uint32_t ranks = 1;
  std::uint32_t hosts = 1;
  std::size_t bytes_max = 0;  ///< the call's count, as CallShape has it, times the element's size
  Algorithm algorithm = Algorithm::kRing;
  bool operator==(const TunedChoice&) const = default;
};
/// For all that is larger than the others.
inline constexpr std::size_t kAnyBytes = SIZE_MAX;

class TuningTable {
 public:
  TuningTable() = default;
  /// \pre  no two choices are for the same operation, ranks, hosts and bytes
  explicit TuningTable(std::vector<TunedChoice> choices);

  /// Lines of
  ///
  ///   all_reduce ranks 8 hosts 4 bytes 65536 hierarchical_doubling
  ///   all_reduce ranks 8 hosts 4 bytes any ring
  ///
  /// in any order; "#" begins a comment. The first line is "ringlet-tuning 1".
  /// \param path  for errors
  /// Errors  kInvalidArgument  names path and line, and says what may stand there
  static Result<TuningTable> Parse(std::string_view text, std::string_view path);

  /// The choice with the smallest bytes_max that reaches `bytes`. Empty where nothing was measured.
  std::optional<Algorithm> For(CallKind kind, std::uint32_t ranks, std::uint32_t hosts,
                               std::size_t bytes) const;

  /// What Parse reads. \param comment  one line that stands above, without "#"; may be empty
  std::string ToText(std::string_view comment) const;
  bool empty() const { return choices_.empty(); }
  bool operator==(const TuningTable&) const = default;

 private:
  std::vector<TunedChoice> choices_;  // sorted
};

}  // namespace ringlet::collective
