#include "tool/emulate/traffic.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "os/fs/conf_files.hpp"
#include "os/process/env.hpp"
#include "tool/draw/picture_file.hpp"
#include "tool/draw/traffic_draw.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/terminal.hpp"
#include "tool/text/value_types.hpp"
#include "tool/traffic/traffic_report.hpp"
#include "tool/traffic/traffic_text.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kTraffic = "traffic";
constexpr std::size_t kTrafficLinksShown = 20;

struct TrafficRequest {
  std::string folder;
  std::string machine;
  std::string title;
  PictureRequest picture;
  std::size_t links = kTrafficLinksShown;
  bool json = false;
};

/// Returns the file that --machine or RINGLET_MACHINE names.
Result<std::string> MachineOf(const TrafficRequest& request) {
  if (!request.machine.empty()) return request.machine;
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(os::ReadEnvironment()));
  if (!settings.machine.empty()) return settings.machine;
  return Error{Code::kInvalidArgument,
               "a picture needs the machine: name its topology file with --machine"};
}

Status Draw(const TrafficRequest& request, const TrafficReport& report) {
  RINGLET_TRY_ASSIGN(const std::string file, MachineOf(request));
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(os::ReadEnvironment()));
  RINGLET_TRY_ASSIGN(const LoadedTopology loaded,
                     LoadPlanned({.file = file, .root = {}, .synthetic = {}}, settings));
  const std::string title = request.title.empty() ? loaded.title : request.title;
  RINGLET_TRY_ASSIGN(const Drawing drawing, DrawTraffic(report, loaded.view, title));
  return ShowPicture(ToSvg(drawing, request.picture.dark), request.picture);
}

int Run(const TrafficRequest& request) {
  if (request.json && request.picture.output == "-")
    return Fail(kTraffic, {Code::kInvalidArgument, "--json and -o - both write standard output"});
  const Result<TrafficReport> report = ReadTraffic(request.folder);
  if (!report.ok()) return Fail(kTraffic, report.error());
  if (!request.picture.output.empty()) {
    const Status drawn = Draw(request, *report);
    if (!drawn.ok()) return Fail(kTraffic, drawn.error());
  }
  if (request.json)
    fmt::print("{}", JsonText(ToJson(*report)));
  else if (request.picture.output != "-")
    PrintFitted(ToText(*report, request.links));
  return report->findings.empty() ? kExitDone : kExitFailed;
}

}  // namespace

void AddTraffic(CLI::App& tool, Action& chosen) {
  CLI::App* traffic = tool.add_subcommand(
      "traffic", "Show the bytes on each link of an emulated machine, measured and planned");
  traffic->footer(
      "Each rank on a machine of RINGLET_MACHINE writes a file into RINGLET_TRAFFIC_DIR when "
      "its\ncommunicator is destroyed. The exit status is 1 if the bytes on a link differ from the "
      "plan,\nranks called different collectives, or the file of a rank is missing.");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<TrafficRequest>();
  traffic->add_option("DIR", request->folder, "The folder of RINGLET_TRAFFIC_DIR")
      ->required()
      ->type_name(kFolderType);
  traffic->add_flag(
      "--json", request->json,
      "One object: version, findings, findings_left_out, hosts, communicators (by_rank, "
      "missing_ranks), kinds, links (measured_bytes, planned_bytes, time_us, load), calls");
  traffic->add_option("--links", request->links, "Rows of the table of links, the busiest first")
      ->capture_default_str();
  traffic
      ->add_option("-o,--output", request->picture.output,
                   "Draw the machine with the traffic on its links: a file, .svg or .png; - is "
                   "standard output, instead of the text")
      ->check(WhyNoPicture)
      ->type_name(kFileType);
  traffic->add_flag("--dark", request->picture.dark, "A picture for dark pages");
  traffic->add_option("--title", request->title,
                      "Title of the picture; default: the file of the machine");
  traffic
      ->add_option("--machine", request->machine,
                   "Topology file of the run; default: that of RINGLET_MACHINE")
      ->type_name(kFileType);
  traffic->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
