#include "tool/draw/topo_draw.hpp"

#include <memory>

#include "tool/draw/drawn_machine.hpp"
#include "tool/draw/page.hpp"
#include "tool/draw/picture_file.hpp"

namespace ringlet::cli {
namespace {

struct DrawRequest {
  TopoSource source;
  PictureRequest picture;
  std::string title;
};

int Run(const DrawRequest& request) {
  const Result<DrawnMachine> machine = DrawMachine(
      request.source, {.title = request.title, .paths = IsPage(request.picture.output)});
  if (!machine.ok()) return Fail("topo draw", machine.error());
  for (const std::string& told : machine->told) PrintNote("topo draw", told);
  if (IsPage(request.picture.output)) {
    const PageMachine page = machine->page();
    return ExitStatusOf("topo draw",
                        WriteFile(request.picture.output, PageOf(machine->title, {&page, 1})));
  }
  const Status shown = ShowPicture(ToSvg(machine->drawing, request.picture.dark), request.picture);
  return ExitStatusOf("topo draw", shown);
}

}  // namespace

void AddTopoDraw(CLI::App& topo, Action& chosen) {
  CLI::App* draw = topo.add_subcommand(
      "draw",
      "Draw a machine; line widths show bandwidth, colored outlines show findings of the check");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<DrawRequest>();
  AddTopoSource(*draw, request->source);
  AddPicture(*draw, request->picture, true);
  draw->add_option("--title", request->title,
                   "Title of the picture; default: the source of the machine");
  draw->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
