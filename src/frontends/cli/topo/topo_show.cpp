#include "frontends/cli/topo/topo_show.hpp"

#include <fmt/format.h>

#include <memory>

#include "frontends/cli/topo/topo_source.hpp"
#include "frontends/cli/topo/topo_tree.hpp"

namespace ringlet::cli {
namespace {

int Run(const TopoSource& source) {
  const Result<LoadedTopology> loaded = LoadTopology(source);
  if (!loaded.ok()) return Fail("topo show", loaded.error());
  for (const std::string& missing : loaded->missing) Tell("topo show", missing);
  fmt::print("{}", TreeText(loaded->view));
  return 0;
}

}  // namespace

void AddTopoShow(CLI::App& topo, Action& chosen) {
  CLI::App* show = topo.add_subcommand("show", "Show a machine as a tree, with bandwidths");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto source = std::make_shared<TopoSource>();
  AddTopoSource(*show, *source);
  show->callback([source, &chosen] { chosen = [source] { return Run(*source); }; });
}

}  // namespace ringlet::cli
