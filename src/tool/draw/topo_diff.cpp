#include "tool/draw/topo_diff.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tool/draw/drawn_machine.hpp"
#include "tool/draw/page.hpp"
#include "tool/draw/picture_file.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/value_types.hpp"
#include "topo/edit/compare.hpp"

namespace ringlet::cli {
namespace {

struct DiffOptions {
  std::string a, b, output;
  bool json = false;
};

/// Reads a machine: a description if `what` has brackets, this machine, or a file.
TopoSource SideOf(const std::string& what) {
  TopoSource source;
  if (what.find('(') != std::string::npos) {
    source.synthetic = what;
  } else if (what != "this") {
    source.file = what;
  }
  return source;
}

/// Draws both machines side by side on a page. The second is checked against the first.
Status DrawSides(const DiffOptions& options, const std::vector<std::string>& differences) {
  RINGLET_TRY_ASSIGN(const DrawnMachine a, DrawMachine(SideOf(options.a), {.paths = true}));
  RINGLET_TRY_ASSIGN(const DrawnMachine b,
                     DrawMachine(SideOf(options.b), {.paths = true, .expected = &a}));
  const PageMachine sides[] = {a.page(), b.page()};
  const std::string title = fmt::format("{} and {}", a.title, b.title);
  return WriteFile(options.output, PageOf(title, sides, &differences));
}

int Run(const DiffOptions& options) {
  const Result<LoadedTopology> a = LoadTopology(SideOf(options.a));
  if (!a.ok()) return Fail("topo diff", a.error());
  const Result<LoadedTopology> b = LoadTopology(SideOf(options.b));
  if (!b.ok()) return Fail("topo diff", b.error());
  const std::vector<std::string> differences = topology::Compare(a->view, b->view);
  if (!options.output.empty()) {
    const Status drawn = DrawSides(options, differences);
    if (!drawn.ok()) return Fail("topo diff", drawn.error());
  }
  if (options.json)
    fmt::print("{}", JsonText({{"equal", differences.empty()}, {"differences", differences}}));
  else
    for (const std::string& difference : differences) fmt::print("{}\n", difference);
  return differences.empty() ? kExitDone : kExitFailed;
}

}  // namespace

void AddTopoDiff(CLI::App& topo, Action& chosen) {
  CLI::App* diff = topo.add_subcommand(
      "diff", "Describe the differences between two machines; exit with 1 if they differ");
  // The parser fills it, and the action reads it later.
  const auto options = std::make_shared<DiffOptions>();
  diff->add_option("A", options->a, "An NCCL topology file, a machine in words, or: this")
      ->required();
  diff->add_option("B", options->b, "The other machine")->required();
  diff->add_option("-o,--output", options->output,
                   "Draw both machines side by side on a page for a browser: a file, .html")
      ->check([](const std::string& path) {
        return IsPage(path)
                   ? std::string()
                   : fmt::format("{} is not written: two machines are drawn on a page, .html",
                                 path);
      })
      ->type_name(kFileType);
  diff->add_flag("--json", options->json, "One object: equal, differences (a list of sentences)");
  diff->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
