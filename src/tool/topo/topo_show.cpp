#include "tool/topo/topo_show.hpp"

#include <fmt/format.h>

#include <memory>

#include "os/fs/conf_files.hpp"
#include "os/process/env.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/terminal.hpp"
#include "tool/topo/topo_json.hpp"
#include "tool/topo/topo_tree.hpp"

namespace ringlet::cli {
namespace {

struct ShowOptions {
  TopoSource source;
  bool json = false;
};

int Run(const ShowOptions& options) {
  const Result<Settings> settings = os::ReadSettings(os::ReadEnvironment());
  if (!settings.ok()) return Fail("topo show", settings.error());
  const Result<LoadedTopology> loaded = LoadPlanned(options.source, *settings);
  if (!loaded.ok()) return Fail("topo show", loaded.error());
  if (!loaded->merged.empty()) PrintNote("topo show", loaded->merged);
  for (const std::string& missing : loaded->missing) PrintNote("topo show", missing);
  if (options.json)
    fmt::print("{}", ViewJson(loaded->view));
  else
    PrintFitted(TreeText(loaded->view));
  return kExitDone;
}

}  // namespace

void AddTopoShow(CLI::App& topo, Action& chosen) {
  CLI::App* show = topo.add_subcommand("show", "Show a machine as a tree, with bandwidths");
  // The parser fills it, and the action reads it later.
  const auto options = std::make_shared<ShowOptions>();
  AddTopoSource(*show, options->source);
  show->add_flag("--json", options->json,
                 "One object: name, arch, processor, numa_nodes, pci, gpus, nets");
  show->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
