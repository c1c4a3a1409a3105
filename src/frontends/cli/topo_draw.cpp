#include "frontends/cli/topo_draw.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <fstream>
#include <memory>

#include "frontends/cli/topo_layout.hpp"
#include "frontends/cli/topo_paths.hpp"
#include "frontends/cli/topo_source.hpp"
#include "os/child.hpp"
#include "os/clock.hpp"
#include "os/env.hpp"

namespace ringlet::cli {
namespace {

struct DrawRequest {
  TopoSource source;
  std::string output;
  std::string title;
  bool dark = false;
};

Error CannotWrite(const std::string& path) {
  return {Code::kSystem, fmt::format("{} cannot be written", path)};
}

Status Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file.good() ? Status(Ok()) : Status(CannotWrite(path));
}

/// Whether a program ran and did its work.
bool Ran(std::vector<std::string> arguments) {
  Result<os::Child> child = os::Child::Start({std::move(arguments), os::ReadEnvironment()});
  if (!child.ok()) return false;
  // A picture of a rack takes a second.
  constexpr int kSliceMs = 50, kSlicesMax = 60'000 / kSliceMs;
  for (int slice = 0; slice < kSlicesMax; ++slice) {
    pollfd errors{child->errors().get(), POLLIN, 0};
    poll(&errors, 1, kSliceMs);
    const bool end = os::ReadAvailable(child->errors(), std::size_t{64} << 10).end;
    if (const auto ended = child->Poll()) return ended->ok();
    if (end) poll(nullptr, 0, kSliceMs);
  }
  return false;
}

/// With whatever converter there is.
Status WritePng(const std::string& path, const std::string& svg) {
  const std::string beside = path + ".svg";
  RINGLET_TRY(Write(beside, svg));
  const bool done = Ran({"rsvg-convert", "-o", path, beside}) ||
                    Ran({"inkscape", "--export-type=png", "--export-filename=" + path, beside}) ||
                    Ran({"magick", beside, path}) || Ran({"convert", beside, path});
  if (done) {
    std::remove(beside.c_str());
    return Ok();
  }
  return Error{Code::kUnsupported,
               fmt::format("{} needs rsvg-convert, inkscape or ImageMagick, and none did it; the "
                           "picture is in {}",
                           path, beside)};
}

int Run(const DrawRequest& request) {
  const Result<LoadedTopology> loaded = LoadTopology(request.source);
  if (!loaded.ok()) return Fail("topo draw", loaded.error());
  for (const std::string& missing : loaded->missing) Tell("topo draw", missing);
  const std::string hint = SkeletonHint(loaded->view);
  if (!hint.empty()) Tell("topo draw", hint);
  const Result<topology::Graph> graph = topology::Build(
      {&loaded->view, 1}, {}, {.gpus = topology::GpuRanks::kAll, .unknown_net = false});
  if (!graph.ok()) return Fail("topo draw", graph.error());
  const Status drawable = CheckDrawable(*graph);
  if (!drawable.ok()) return Fail("topo draw", drawable.error());
  const std::string title = request.title.empty() ? loaded->title : request.title;
  const std::string svg = ToSvg(LayOut(*graph, title), request.dark);
  if (request.output.empty()) {
    fmt::print("{}", svg);
    return 0;
  }
  const Status written =
      request.output.ends_with(".png") ? WritePng(request.output, svg) : Write(request.output, svg);
  return written.ok() ? 0 : Fail("topo draw", written.error());
}

}  // namespace

void AddTopoDraw(CLI::App& topo, Action& chosen) {
  CLI::App* draw = topo.add_subcommand("draw", "Draw a machine; the width of a line is bandwidth");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto request = std::make_shared<DrawRequest>();
  AddTopoSource(*draw, request->source);
  draw->add_option("-o,--output", request->output,
                   "A file, .svg or .png; none: SVG on standard output");
  draw->add_option("--title", request->title, "What stands above it; none: where it is from");
  draw->add_flag("--dark", request->dark, "For dark pages");
  draw->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
