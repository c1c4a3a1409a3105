// The times of recoveries that `ringlet bench reform` measured. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// The report of one rank: the moment of its death, or the moments of its recovery, by os::Now.
struct ReformLine {
  std::uint32_t rank = 0;
  std::optional<Instant> died = {};
  Instant told{0}, agreed{0}, rebuilt{0}, first_result{0};
  std::uint32_t survivors = 0;  ///< size of the communicator with the first result
  bool is_right = false;        ///< the first result has the right sum in each element
  bool operator==(const ReformLine&) const = default;
};
/// Returns one line without a newline.
std::string ToLine(const ReformLine& line);
/// The inverse of ToLine. Empty for any other text.
std::optional<ReformLine> ParseReformLine(std::string_view text);

/// Times of the last rank, since the first death.
struct RecoveryRun {
  Instant told{0}, agreed{0}, rebuilt{0}, first_result{0};
};
/// Combines the reports of all ranks of one repetition.
/// Errors  kProtocol  a rank did not report, has another number of ranks, or has a wrong sum
Result<RecoveryRun> CombineRecovery(const std::vector<ReformLine>& lines, std::uint32_t ranks,
                                    std::uint32_t victims);

struct ReformReport {
  std::uint32_t ranks = 0;
  std::uint32_t victims = 0;
  std::vector<RecoveryRun> runs;  ///< not empty
};
std::string ReformHeadText(std::uint32_t iterations);
/// Returns one row: medians, and the worst time to the first result.
std::string ReformRowText(const ReformReport& report);
/// Returns one object on one line, with the times of each repetition.
std::string ReformJson(const ReformReport& report);

}  // namespace ringlet::cli
