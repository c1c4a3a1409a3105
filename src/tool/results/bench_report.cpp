#include "tool/results/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "os/fs/write_file.hpp"
#include "tool/draw/chart.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/results/performance_page.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kReportFileBytesMax = std::size_t{16} << 20;

struct ReportRequest {
  std::vector<std::string> paths = {"bench/results"};
  std::string output = "-";
  std::string charts;  ///< a folder; empty: none
};

/// Files as they are, and the .json files of folders, by name.
Result<std::vector<std::string>> FilesAt(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
         at.increment(error))
      if (at->path().extension() == ".json") found.push_back(at->path().string());
    if (error)
      return Error{Code::kSystem, fmt::format("{}: {}", path, error.message()), error.value()};
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  if (files.empty())
    return Error{Code::kInvalidArgument,
                 fmt::format("there is no .json file in {}", fmt::join(paths, ", "))};
  return files;
}

/// "One host, 2 ranks" as part of the name of a file: "one-host-2-ranks".
std::string FileWords(std::string_view text) {
  std::string words;
  for (const char letter : text) {
    const bool upper = letter >= 'A' && letter <= 'Z';
    const bool kept = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
    if (upper) words += static_cast<char>(letter - 'A' + 'a');
    if (kept) words += letter;
    if (!upper && !kept && !words.empty() && words.back() != '-') words += '-';
  }
  return words;
}

Chart ChartOfRun(const ResultFile& file, const ResultRun& run) {
  Chart chart{.title = fmt::format("{}, {}", run.operation, LayoutOf(run)), .curves = {}};
  Curve own{file.self, {}};
  for (const ResultRow& row : run.rows)
    if (row.us && row.bytes > 0) own.points.emplace_back(row.bytes, *row.us);
  chart.curves.push_back(std::move(own));
  for (const std::string& peer : run.peers) {
    Curve curve{peer, {}};
    for (const ResultRow& row : run.rows)
      if (const auto at = row.peers.find(peer); at != row.peers.end() && row.bytes > 0)
        curve.points.emplace_back(row.bytes, at->second);
    chart.curves.push_back(std::move(curve));
  }
  std::erase_if(chart.curves, [](const Curve& curve) { return curve.points.size() < 2; });
  return chart;
}

/// One for each run that has several sizes.
Status WriteCharts(const std::vector<ResultFile>& files, const std::string& folder) {
  for (const ResultFile& file : files)
    for (const ResultRun& run : file.runs) {
      const Chart chart = ChartOfRun(file, run);
      if (chart.curves.empty()) continue;
      const std::string name = FileWords(fmt::format("{} {}", file.what, chart.title));
      RINGLET_TRY(
          os::WriteFile(fmt::format("{}/{}.svg", folder, name), ToSvg(DrawChart(chart), false)));
    }
  return Ok();
}

Status Report(const ReportRequest& request) {
  RINGLET_TRY_ASSIGN(const std::vector<std::string> paths, FilesAt(request.paths));
  std::vector<ResultFile> files;
  for (const std::string& path : paths) {
    RINGLET_TRY_ASSIGN(const std::string text, ReadUserFile(path, kReportFileBytesMax));
    RINGLET_TRY_ASSIGN(ResultFile file, ParseResultFile(path, text));
    files.push_back(std::move(file));
  }
  if (!request.charts.empty()) RINGLET_TRY(WriteCharts(files, request.charts));
  const std::string page = PerformancePage(std::move(files));
  if (request.output != "-") return os::WriteFile(request.output, page);
  fmt::print("{}", page);
  return Ok();
}

}  // namespace

void AddBenchReport(CLI::App& bench, Action& chosen) {
  CLI::App* report = bench.add_subcommand(
      "report", "Make a page of figures from results, with what is behind other libraries");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto request = std::make_shared<ReportRequest>();
  report
      ->add_option("FILE", request->paths,
                   "Files that bench --output wrote, or folders of them; - is standard input")
      ->type_name(kFileType)
      ->capture_default_str();
  report->add_option("-o,--output", request->output, "The page; - is standard output")
      ->type_name(kFileType)
      ->capture_default_str();
  report
      ->add_option("--charts", request->charts,
                   "Draw each run that has several sizes into this folder, as SVG")
      ->type_name(kFolderType);
  report->callback([request, &chosen] {
    chosen = [request] { return ExitStatusOf("bench report", Report(*request)); };
  });
}

}  // namespace ringlet::cli
