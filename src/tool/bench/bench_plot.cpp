#include "tool/bench/bench_plot.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tool/draw/picture_file.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPlot = "bench plot";
constexpr std::size_t kFilesMax = 16;
constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;

struct PlotRequest {
  std::vector<std::string> paths;
  PictureRequest picture;
  RunChoice choice;
};

/// The contents of one file, with the curves still unnamed.
struct Measured {
  std::string call;  ///< "all_reduce, 4 ranks"
  std::string path;
  std::vector<Curve> curves;
};

void AddPoint(Curve& curve, double bytes, double us) {
  if (bytes > 0 && us > 0) curve.points.emplace_back(bytes, us);
}

// The JSON library throws if a member is missing or has another type.
Measured MeasuredIn(const Json& json) {
  Measured measured;
  measured.call = fmt::format("{}, {}", json.at("op").get<std::string>(),
                              Counted(json.at("ranks").get<std::uint32_t>(), "rank"));
  Curve own{"ringlet", {}}, in_place{"ringlet in place", {}};
  std::map<std::string, Curve> peers;
  for (const Json& row : json.at("rows")) {
    const double bytes = row.at("size").get<double>();
    if (row.contains("time_us")) AddPoint(own, bytes, row.at("time_us").get<double>());
    if (row.contains("in_place"))
      AddPoint(in_place, bytes, row.at("in_place").at("time_us").get<double>());
    if (!row.contains("peers")) continue;
    for (const auto& [name, peer] : row.at("peers").items())
      if (peer.contains("time_us")) AddPoint(peers[name], bytes, peer.at("time_us").get<double>());
  }
  measured.curves = {std::move(own), std::move(in_place)};
  for (auto& [name, curve] : peers) {
    curve.name = name;
    measured.curves.push_back(std::move(curve));
  }
  std::erase_if(measured.curves, [](const Curve& curve) { return curve.points.empty(); });
  return measured;
}

Result<Measured> Read(const BenchFile& file) {
  const auto refuse = [&](std::string_view why) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("{} is not output of `ringlet bench OPERATION --json`: {}", file.path, why)};
  };
  try {
    Measured measured = MeasuredIn(Json::parse(file.text));
    measured.path = std::filesystem::path(file.path).stem().string();
    if (measured.curves.empty()) return refuse("it lacks a row with a size and a time");
    return measured;
  } catch (const Json::exception& e) {
    return refuse(e.what());
  }
}

Result<BenchFile> Load(const std::string& path) {
  RINGLET_TRY_ASSIGN(std::string text, ReadUserFile(path, kFileBytesMax));
  return BenchFile{path == "-" ? "standard input" : path, std::move(text)};
}

Status Plot(const PlotRequest& request) {
  std::vector<BenchFile> files;
  for (const std::string& path : request.paths) {
    RINGLET_TRY_ASSIGN(BenchFile file, Load(path));
    RINGLET_TRY_ASSIGN(file, ChosenRun(std::move(file), request.choice));
    files.push_back(std::move(file));
  }
  RINGLET_TRY_ASSIGN(const Chart chart, ChartOf(files));
  return ShowPicture(ToSvg(DrawChart(chart), request.picture.dark), request.picture);
}

}  // namespace

Result<BenchFile> ChosenRun(BenchFile file, const RunChoice& choice) {
  const Json json = Json::parse(file.text, nullptr, false);
  if (!json.is_object() || !json.contains("runs") || !json.at("runs").is_array()) return file;
  std::vector<const Json*> chosen;
  for (const Json& run : json.at("runs")) {
    if (!run.is_object()) continue;
    const bool operation = choice.operation.empty() || run.value("op", "") == choice.operation;
    const bool ranks = choice.ranks == 0 || run.value("ranks", std::uint32_t{0}) == choice.ranks;
    if (operation && ranks) chosen.push_back(&run);
  }
  if (chosen.size() != 1)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} has {} that match; choose one with --op and --ranks", file.path,
                             Counted(chosen.size(), "run"))};
  file.text = chosen.front()->dump(-1, ' ', false, Json::error_handler_t::replace);
  return file;
}

Result<Chart> ChartOf(const std::vector<BenchFile>& files) {
  std::vector<Measured> all;
  std::set<std::string> calls;
  for (const BenchFile& file : files) {
    RINGLET_TRY_ASSIGN(Measured measured, Read(file));
    calls.insert(measured.call);
    all.push_back(std::move(measured));
  }
  Chart chart{.title = calls.size() == 1 ? *calls.begin() : "ringlet bench", .curves = {}};
  for (Measured& measured : all)
    for (Curve& curve : measured.curves) {
      if (all.size() > 1)
        curve.name =
            (calls.size() == all.size() ? measured.call : measured.path) + ": " + curve.name;
      chart.curves.push_back(std::move(curve));
    }
  return chart;
}

void AddBenchPlot(CLI::App& bench, Action& chosen) {
  CLI::App* plot = bench.add_subcommand("plot", "Draw a chart of times by size from --json output");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<PlotRequest>();
  plot->add_option("FILE", request->paths,
                   "Output of `ringlet bench OPERATION --json` or --output; - is standard input")
      ->type_name(kFileType)
      ->required()
      ->expected(1, static_cast<int>(kFilesMax));
  plot->add_option("--op", request->choice.operation,
                   "Operation to draw if the file has several runs: all_reduce");
  plot->add_option("--ranks", request->choice.ranks,
                   "Number of ranks to draw if the file has several runs");
  AddPicture(*plot, request->picture);
  plot->callback(
      [request, &chosen] { chosen = [request] { return ExitStatusOf(kPlot, Plot(*request)); }; });
}

}  // namespace ringlet::cli
