#include "tool/watch/trace.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>

#include "base/value/text.hpp"
#include "os/fs/file_tree.hpp"
#include "os/fs/write_file.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/terminal.hpp"
#include "tool/text/value_types.hpp"
#include "tool/watch/trace_report.hpp"
#include "watcher/trace/pictures.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kTrace = "trace";
constexpr std::size_t kTraceFilesMax = 4096;
constexpr std::size_t kNameShownBytesMax = 512;

struct TraceRequest {
  std::vector<std::string> dumps;
  std::string chrome;
  std::string flight_recorder;
  bool json = false;
};

/// Returns the named files, and the files of the named folders.
Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& dumps) {
  std::vector<std::string> files;
  for (const std::string& dump : dumps) {
    std::error_code error;
    if (!std::filesystem::is_directory(dump, error)) {
      files.push_back(dump);
      continue;
    }
    RINGLET_TRY_ASSIGN(const os::FileTree folder, os::FileTree::Open(dump));
    RINGLET_TRY_ASSIGN(const auto names, folder.List("/"));
    for (const std::string& name : names)
      if (name.ends_with(".json")) files.push_back(dump + "/" + name);
  }
  if (files.empty())
    return Error{Code::kInvalidArgument,
                 "no trace found: the folder does not contain a file NAME.json"};
  if (files.size() > kTraceFilesMax)
    return Error{Code::kUnsupported,
                 fmt::format("{} files exceed the maximum of {}", files.size(), kTraceFilesMax)};
  return files;
}

Result<std::vector<watch::RankTrace>> ReadTraces(const std::vector<std::string>& dumps) {
  RINGLET_TRY_ASSIGN(const auto files, FilesOf(dumps));
  std::vector<watch::RankTrace> traces;
  for (const std::string& file : files) {
    RINGLET_TRY_ASSIGN(const std::string text, ReadUserFile(file, watch::kTraceBytesMax));
    auto trace = watch::ParseRankTrace(text);
    if (!trace.ok())
      return Error{trace.error().code, fmt::format("{}: {}", Printable(file, kNameShownBytesMax),
                                                   trace.error().message)};
    traces.push_back(std::move(trace).value());
  }
  return traces;
}

Status WriteChrome(const std::vector<TraceReport>& reports, const std::string& path) {
  std::vector<watch::RankTrace> traces;
  std::vector<watch::ClockShift> shifts;
  for (const TraceReport& report : reports) {
    traces.insert(traces.end(), report.traces.begin(), report.traces.end());
    shifts.insert(shifts.end(), report.shifts.begin(), report.shifts.end());
  }
  return os::WriteFile(path, ToChromeTrace(traces, shifts));
}

// Writes one file per process. In PyTorch's world it has the rank of its largest communicator.
Status WriteFlightRecorder(const std::vector<TraceReport>& reports, const std::string& folder) {
  std::map<std::pair<std::string, std::uint32_t>, std::vector<watch::RankTrace>> processes;
  for (const TraceReport& report : reports)
    for (const watch::RankTrace& trace : report.traces)
      processes[{trace.host, trace.pid}].push_back(trace);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const auto& [process, traces] : processes) {
    const auto largest = std::ranges::max_element(traces, {}, &watch::RankTrace::ranks);
    RINGLET_TRY(os::WriteFile(fmt::format("{}/rank_{}.json", folder, largest->rank),
                              ToFlightRecorder(traces)));
  }
  return Ok();
}

Result<int> Trace(const TraceRequest& request) {
  RINGLET_TRY_ASSIGN(auto traces, ReadTraces(request.dumps));
  const std::vector<TraceReport> reports = ReportTraces(std::move(traces));
  if (!request.chrome.empty()) RINGLET_TRY(WriteChrome(reports, request.chrome));
  if (!request.flight_recorder.empty())
    RINGLET_TRY(WriteFlightRecorder(reports, request.flight_recorder));
  bool clean = true;
  std::string text;
  for (const TraceReport& report : reports) {
    clean = clean && !report.divergence && report.findings.empty();
    text += ToText(report);
  }
  if (request.json)
    fmt::print("{}", ToJson(reports));
  else
    PrintFitted(text);
  return clean ? kExitDone : kExitFailed;
}

int Run(const TraceRequest& request) {
  const Result<int> status = Trace(request);
  return status.ok() ? *status : Fail(kTrace, status.error());
}

}  // namespace

void AddTrace(CLI::App& tool, Action& chosen) {
  CLI::App* trace = tool.add_subcommand(
      "trace", "Compare the last operations of ranks: show where they diverge and the late rank");
  trace->footer(
      "Ranks write traces into RINGLET_DUMP_DIR when their communicator fails, and ringlet "
      "status\n--dump DIR writes them at any time. The exit status is 1 if the ranks called "
      "different\noperations, or a rank failed or is missing.");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<TraceRequest>();
  trace->add_option("DUMP", request->dumps, "Trace files, or folders of them")
      ->required()
      ->type_name(kFileType);
  trace
      ->add_option("--perfetto", request->chrome,
                   "Write all operations as a Chrome trace, for ui.perfetto.dev")
      ->type_name(kFileType);
  trace
      ->add_option("--flight-recorder", request->flight_recorder,
                   "Write a file for each process in the form of PyTorch's flight recorder")
      ->type_name(kFolderType);
  trace->add_flag("--json", request->json,
                  "A list of objects: communicator, ranks, traces, divergence, findings, lateness");
  trace->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
