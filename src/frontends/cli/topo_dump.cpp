#include "frontends/cli/topo_dump.hpp"

#include <fmt/format.h>

#include <memory>

#include "frontends/cli/topo_source.hpp"
#include "topology/xml_writer.hpp"

namespace ringlet::cli {
namespace {

int Run(const TopoSource& source) {
  const Result<LoadedTopology> loaded = LoadTopology(source);
  if (!loaded.ok()) return Fail("topo dump", loaded.error());
  for (const std::string& missing : loaded->missing) Tell("topo dump", missing);
  fmt::print("{}", topology::ToXml(loaded->view));
  return 0;
}

}  // namespace

void AddTopoDump(CLI::App& topo, Action& chosen) {
  CLI::App* dump = topo.add_subcommand("dump", "Write a machine as NCCL's XML");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto source = std::make_shared<TopoSource>();
  AddTopoSource(*dump, *source);
  dump->callback([source, &chosen] { chosen = [source] { return Run(*source); }; });
}

}  // namespace ringlet::cli
