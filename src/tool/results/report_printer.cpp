#include "tool/results/report_printer.hpp"

#include <fmt/format.h>

#include "tool/text/plural.hpp"
#include "tool/text/terminal.hpp"

namespace ringlet::cli {
namespace {

// Maximum silence before a user would wonder about the progress.
constexpr Instant kSilence = std::chrono::seconds(2);

}  // namespace

ReportPrinter::ReportPrinter(Options options)
    : options_(std::move(options)), silent_until_(options_.start + kSilence) {}

void ReportPrinter::OnMessage(const WorkerMessage& message) {
  if (const auto* formed = std::get_if<Formed>(&message)) {
    options_.report.links = options_.head.links = formed->links;
    if (options_.json) return;
    const std::vector<std::string>& peers = options_.report.peers;
    fmt::print(
        options_.output, "{}",
        NarrowedHead(peers.empty() ? HeadText(options_.head) : VersusHeadText(options_.head, peers),
                     ColumnsOf(options_.output), options_.in_place));
  } else {
    options_.report.rows.push_back(std::get<Row>(message));
    if (options_.json) return;
    const BenchReport& report = options_.report;
    fmt::print(options_.output, "{}",
               NarrowedRows(report.peers.empty() ? RowText(report.rows.back(), report)
                                                 : VersusRowText(report.rows.back(), report),
                            ColumnsOf(options_.output), options_.in_place));
  }
  std::fflush(options_.output);
}

void ReportPrinter::OnTick(Instant now) {
  const bool formed = !options_.report.links.empty();
  if (now < silent_until_ || (formed && !options_.json)) return;
  silent_until_ = now + kSilence;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - options_.start);
  if (formed)
    fmt::print(options_.errors, "ringlet bench: {} of {} measured after {} s\n",
               options_.report.rows.size(), Counted(options_.sizes, "size"), seconds.count());
  else
    fmt::print(options_.errors, "ringlet bench: forming a communicator of {}, {} s\n",
               Counted(options_.report.ranks, "rank"), seconds.count());
}

void ReportPrinter::Finish() {
  fmt::print(options_.output, "{}",
             options_.json ? ToJson(options_.report) : FootText(options_.report));
  std::fflush(options_.output);
}

}  // namespace ringlet::cli
