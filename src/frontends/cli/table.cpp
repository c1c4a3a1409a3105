#include "frontends/cli/table.hpp"

#include <fmt/format.h>

namespace ringlet::cli {
namespace {

// Times keep about four digits, whatever their size, and seven columns.
std::string TimeText(double us) {
  if (us >= 10'000) return fmt::format("{:7.0f}", us);
  if (us >= 100) return fmt::format("{:7.1f}", us);
  return fmt::format("{:7.2f}", us);
}

std::string PlacementText(std::size_t bytes, const Measurement& measured, std::uint32_t ranks) {
  const std::string wrong = measured.wrong ? fmt::format("{}", *measured.wrong) : "N/A";
  return fmt::format("  {} {:7.2f} {:7.2f} {:>6}", TimeText(measured.time_us),
                     AlgorithmBandwidth(bytes, measured), BusBandwidth(bytes, measured, ranks),
                     wrong);
}

}  // namespace

std::string HeadText(const TableHead& head) {
  return fmt::format(
      "# ringlet bench all_reduce: {} {}, links {}\n"
      "# minBytes {} maxBytes {} step: {}(factor) validation: {}\n"
      "# time: median over iterations of the slowest rank\n"
      "#\n"
      "# {:>10} {:>13} {:>9} {:>7} {:>7}  {:^31} {:>19}\n"
      "# {:>10} {:>13} {:>9} {:>7} {:>7}  {:>7} {:>7} {:>7} {:>6}  {:>7} {:>7} {:>7} {:>6}\n"
      "# {:>10} {:>13} {:>9} {:>7} {:>7}  {:>7} {:>7} {:>7} {:>6}  {:>7} {:>7} {:>7}\n",
      head.ranks, head.threads ? "threads" : "processes", head.links, head.min_bytes,
      head.max_bytes, head.factor, head.check ? 1 : 0, "", "", "", "", "", "out-of-place",
      "in-place", "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong",
      "time", "algbw", "busbw", "#wrong", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)",
      "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)");
}

std::string RowText(const Row& row, const BenchReport& report) {
  constexpr int kNoRoot = -1;
  return fmt::format("{:>12} {:>13} {:>9} {:>7} {:>7}{}{}\n", row.bytes, row.count,
                     Name(report.type), Name(report.op), kNoRoot,
                     PlacementText(row.bytes, row.out_of_place, report.ranks),
                     PlacementText(row.bytes, row.in_place, report.ranks));
}

std::string FootText(const BenchReport& report) {
  const bool checked = !report.rows.empty() && report.rows.front().out_of_place.wrong.has_value();
  const std::uint64_t wrong = WrongElements(report);
  const std::string verdict =
      checked ? fmt::format("{} {}", wrong, wrong == 0 ? "OK" : "FAILED") : "not checked";
  return fmt::format("# Wrong elements       : {}\n# Avg bus bandwidth    : {:.4f}\n", verdict,
                     MeanBusBandwidth(report));
}

}  // namespace ringlet::cli
