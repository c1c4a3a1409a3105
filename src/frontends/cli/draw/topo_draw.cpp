#include "frontends/cli/draw/topo_draw.hpp"

#include <memory>

#include "frontends/cli/draw/picture_file.hpp"
#include "frontends/cli/draw/topo_layout.hpp"
#include "frontends/cli/topo/topo_paths.hpp"
#include "frontends/cli/topo/topo_source.hpp"

namespace ringlet::cli {
namespace {

struct DrawRequest {
  TopoSource source;
  PictureRequest picture;
  std::string title;
};

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
  const Status shown =
      ShowPicture(ToSvg(LayOut(*graph, title), request.picture.dark), request.picture);
  return ExitStatusOf("topo draw", shown);
}

}  // namespace

void AddTopoDraw(CLI::App& topo, Action& chosen) {
  CLI::App* draw = topo.add_subcommand("draw", "Draw a machine; the width of a line is bandwidth");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto request = std::make_shared<DrawRequest>();
  AddTopoSource(*draw, request->source);
  AddPicture(*draw, request->picture);
  draw->add_option("--title", request->title, "The title; none: the source of the machine");
  draw->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
