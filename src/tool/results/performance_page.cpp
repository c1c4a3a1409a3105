#include "tool/results/performance_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tool/draw/chart.hpp"
#include "tool/text/fill.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

/// Runs of one layout, which make one table.
struct LayoutRuns {
  std::string layout;
  std::vector<const ResultRun*> runs;
};

std::vector<LayoutRuns> ByLayout(const ResultFile& file) {
  std::vector<LayoutRuns> layouts;
  for (const ResultRun& run : file.runs) {
    const std::string layout = LayoutOf(run);
    const auto found = std::ranges::find_if(layouts, [&](const LayoutRuns& one) {
      return one.layout == layout && one.runs.front()->ranks == run.ranks;
    });
    LayoutRuns& into = found == layouts.end() ? layouts.emplace_back() : *found;
    into.layout = layout;
    into.runs.push_back(&run);
  }
  return layouts;
}

/// Three digits that count; whole numbers with commas.
std::string ThreeDigits(double us) {
  if (us >= 99.95) {
    std::string digits = fmt::format("{:.0f}", us);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits;
  }
  return fmt::format("{:.3g}", us);
}

std::string TableRow(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string TableHeadRows(const std::vector<std::string>& columns) {
  std::string rule = "|";
  for (std::size_t i = 0; i < columns.size(); ++i) rule += "---|";
  return TableRow(columns) + rule + "\n";
}

/// Those of the runs, in the order in which they come first.
std::vector<std::string> PeersOf(const LayoutRuns& layout) {
  std::vector<std::string> peers;
  for (const ResultRun* run : layout.runs)
    for (const std::string& peer : run->peers)
      if (std::ranges::find(peers, peer) == peers.end()) peers.push_back(peer);
  return peers;
}

/// "**1.2** 3.4 / 5.6": ours and those of the peers; "-" where one was not measured.
std::string TimesCell(const ResultRow& row, const std::vector<std::string>& peers) {
  const auto text = [](std::optional<double> us) { return us ? ThreeDigits(*us) : "-"; };
  std::string cell = fmt::format("**{}**", text(row.us));
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const auto found = row.peers.find(peers[i]);
    cell += i == 0 ? " " : " / ";
    cell += text(found == row.peers.end() ? std::nullopt : std::optional(found->second));
  }
  return cell;
}

std::string RunsTable(const ResultFile& file, const LayoutRuns& layout) {
  const std::vector<std::string> peers = PeersOf(layout);
  std::set<std::uint64_t> sizes;
  for (const ResultRun* run : layout.runs)
    for (const ResultRow& row : run->rows) sizes.insert(row.bytes);
  std::string text =
      fmt::format("\n**{}**, us: **{}** {}\n\n", layout.layout, file.self, fmt::join(peers, " / "));
  std::vector<std::string> columns = {"operation"};
  for (const std::uint64_t bytes : sizes) columns.push_back(BytesText(static_cast<double>(bytes)));
  text += TableHeadRows(columns);
  for (const ResultRun* run : layout.runs) {
    std::vector<std::string> cells = {run->operation};
    for (const std::uint64_t bytes : sizes) {
      const auto row = std::ranges::find(run->rows, bytes, &ResultRow::bytes);
      cells.push_back(row == run->rows.end() ? "" : TimesCell(*row, peers));
    }
    text += TableRow(cells);
  }
  return text;
}

/// The other's time as a part of ours: below 1 the other is faster.
std::string RatioText(double ratio) {
  return ratio < 0.995 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.3f}", ratio);
}

/// "all_reduce 8 B 0.93, ..." for one peer; empty where it is nowhere ahead.
std::string BehindOf(const LayoutRuns& layout, const std::string& peer) {
  std::string text;
  for (const ResultRun* run : layout.runs)
    for (const ResultRow& row : run->rows) {
      const auto other = row.peers.find(peer);
      if (!row.us || other == row.peers.end() || other->second >= *row.us) continue;
      text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", run->operation,
                          BytesText(static_cast<double>(row.bytes)),
                          RatioText(other->second / *row.us));
    }
  return text;
}

std::string BehindSection(const ResultFile& file, const std::vector<LayoutRuns>& layouts) {
  std::string lines;
  std::size_t peers = 0;
  for (const LayoutRuns& layout : layouts)
    for (const std::string& peer : PeersOf(layout)) {
      ++peers;
      if (const std::string cells = BehindOf(layout, peer); !cells.empty())
        lines +=
            Filled(fmt::format("* {}, {}: {}.", layout.layout, peer, cells), kPageColumns, "  ");
    }
  if (peers == 0) return "";
  if (lines.empty()) return fmt::format("\n{} is nowhere behind in these tables.\n", file.self);
  return "\n" +
         Filled(fmt::format("Behind: the other's time, as a part of that of {}.", file.self),
                kPageColumns) +
         "\n" + lines;
}

std::string Paragraphs(const std::vector<std::string>& paragraphs) {
  std::string text;
  for (const std::string& one : paragraphs) text += "\n" + Filled(one, kPageColumns);
  return text;
}

std::string OtherTable(const ResultTable& table) {
  std::string text;
  if (!table.title.empty()) text = "\n" + Filled("**" + table.title + "**", kPageColumns);
  text += "\n" + TableHeadRows(table.columns);
  for (const auto& row : table.rows) text += TableRow(row);
  return text + Paragraphs(table.note);
}

std::string PartOf(const ResultFile& file) {
  std::string where = fmt::format("Machine: {}. Date: {}.", file.where, file.when);
  if (!file.beside.empty()) where += fmt::format(" Beside: {}.", fmt::join(file.beside, "; "));
  if (!file.commit.empty()) where += fmt::format(" Commit: {}.", file.commit);
  if (!file.command.empty()) where += fmt::format(" Command: `{}`.", file.command);
  std::string text =
      fmt::format("\n## {}\n\n", file.what) + Filled(where, kPageColumns) + Paragraphs(file.note);
  const std::vector<LayoutRuns> layouts = ByLayout(file);
  for (const LayoutRuns& layout : layouts) {
    text += RunsTable(file, layout);
    for (const ResultRun* run : layout.runs) text += Paragraphs(run->note);
  }
  text += BehindSection(file, layouts);
  for (const ResultTable& table : file.tables) text += OtherTable(table);
  return text + Paragraphs(file.after);
}

}  // namespace

std::string LayoutOf(const ResultRun& run) {
  return run.layout.empty() ? Counted(run.ranks, "rank") : run.layout;
}

std::string PerformancePage(std::vector<ResultFile> files) {
  std::ranges::stable_sort(files, {}, &ResultFile::order);
  std::string text =
      "# Performance\n\n" +
      Filled(
          "Measurements, with machine, date and the libraries measured beside. `ringlet bench "
          "report` makes this page from the files in `bench/results`; a figure is changed there. "
          "Only numbers of one cell compare: machines and days differ. Below each part stands "
          "where Ringlet is behind.",
          kPageColumns);
  for (const ResultFile& file : files) text += PartOf(file);
  return text;
}

}  // namespace ringlet::cli
