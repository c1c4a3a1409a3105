#include "tool/results/table.hpp"

#include <fmt/format.h>

#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

// Times have about four digits and seven columns.
std::string TimeText(double us) {
  if (us >= 10'000) return fmt::format("{:7.0f}", us);
  if (us >= 100) return fmt::format("{:7.1f}", us);
  return fmt::format("{:7.2f}", us);
}

std::string PlacementText(const BenchReport& report, std::size_t bytes,
                          const std::optional<Measurement>& measured) {
  if (!measured) return fmt::format("  {:>7} {:>7} {:>7} {:>6}", "N/A", "N/A", "N/A", "N/A");
  const std::string wrong = measured->wrong ? fmt::format("{}", *measured->wrong) : "N/A";
  return fmt::format("  {} {:7.2f} {:7.2f} {:>6}", TimeText(measured->time_us),
                     AlgorithmBandwidth(bytes, *measured), BusBandwidth(report, bytes, *measured),
                     wrong);
}

std::string CallText(const Row& row, const BenchReport& report) {
  const bool reduces = collective::Reduces(report.kind);
  const std::string root =
      collective::HasRoot(report.kind) ? std::to_string(report.root) : std::string("-1");
  return fmt::format("{:>12} {:>13} {:>9} {:>7} {:>7}", row.bytes, row.count, Name(report.type),
                     reduces ? Name(report.op) : "none", root);
}

std::string FirstLines(const TableHead& head) {
  return fmt::format(
      "# ringlet bench {}: {}, links {}\n"
      "# minBytes {} maxBytes {} step: {}(factor) validation: {}\n"
      "# time: median over iterations of the slowest rank\n",
      BenchOperationOf(head.kind).name,
      head.threads ? Counted(head.ranks, "thread") : Counted(head.ranks, "process", "processes"),
      head.links, head.min_bytes, head.max_bytes, head.factor, head.check ? 1 : 0);
}

}  // namespace

std::string HeadText(const TableHead& head) {
  return FirstLines(head) +
         fmt::format(
             "# cpu: processor time of all ranks together per operation\n#\n# {:>10} {:>13} {:>9} "
             "{:>7} {:>7}  {:^31} {:>19}\n# {:>10} {:>13} {:>9} {:>7} {:>7}  {:>7} {:>7} {:>7} "
             "{:>6}  {:>7} {:>7} {:>7} {:>6}  {:>7} {:>7}\n# {:>10} {:>13} {:>9} {:>7} {:>7}  "
             "{:>7} {:>7} {:>7} {:>6}  {:>7} {:>7} {:>7} {:>6}  {:>7} {:>7}\n",
             "", "", "", "", "", "out-of-place", "in-place", "size", "count", "type", "redop",
             "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw", "#wrong", "p99",
             "cpu", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)",
             "(GB/s)", "(GB/s)", "", "(us)", "(us)");
}

std::string RowText(const Row& row, const BenchReport& report) {
  return fmt::format("{}{}{}  {} {}\n", CallText(row, report),
                     PlacementText(report, row.bytes, row.out_of_place),
                     PlacementText(report, row.bytes, row.in_place), TimeText(row.first().p99_us),
                     TimeText(row.first().cpu_us));
}

std::string VersusHeadText(const TableHead& head, const std::vector<std::string>& peers) {
  std::string names, units;
  for (const std::string& peer : peers) {
    names += fmt::format("  {:>8} {:>6}", peer, "ratio");
    units += fmt::format("  {:>8} {:>6}", "(us)", "");
  }
  return FirstLines(head) + fmt::format(
                                "# ratio: how many times longer than Ringlet in the same run\n"
                                "#\n"
                                "# {:>10} {:>13} {:>9} {:>7} {:>7}  {:>8} {:>6}{}\n"
                                "# {:>10} {:>13} {:>9} {:>7} {:>7}  {:>8} {:>6}{}\n",
                                "size", "count", "type", "redop", "root", "ringlet", "#wrong",
                                names, "(B)", "(elements)", "", "", "", "(us)", "", units);
}

std::string VersusRowText(const Row& row, const BenchReport& report) {
  const Measurement& own = row.first();
  std::string text = fmt::format("{}  {:>8} {:>6}", CallText(row, report), TimeText(own.time_us),
                                 own.wrong ? std::to_string(*own.wrong) : "N/A");
  for (const std::string& peer : report.peers) {
    const auto found = row.peers.find(peer);
    text += found == row.peers.end()
                ? fmt::format("  {:>8} {:>6}", "N/A", "N/A")
                : fmt::format("  {:>8} {:>6.2f}", TimeText(found->second.time_us),
                              found->second.time_us / own.time_us);
  }
  return text + "\n";
}

std::string FootText(const BenchReport& report) {
  const bool checked = !report.rows.empty() && report.rows.front().first().wrong.has_value();
  const std::uint64_t wrong = WrongElements(report);
  const std::string verdict =
      checked ? fmt::format("{} {}", wrong, wrong == 0 ? "OK" : "FAILED") : "not checked";
  return fmt::format("# Wrong elements       : {}\n# Avg bus bandwidth    : {:.4f}\n", verdict,
                     MeanBusBandwidth(report));
}

}  // namespace ringlet::cli
