#include "tool/topo/topo_dump.hpp"

#include <fmt/format.h>

#include <memory>

#include "tool/input/topo_source.hpp"
#include "topology/graph/merge_nics.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::cli {
namespace {

struct DumpRequest {
  TopoSource source;
  std::string merge_level;
  std::string forced;
  bool same_rail = false;
};

Result<topology::HostView> Merged(const topology::HostView& view, const DumpRequest& request) {
  if (request.merge_level.empty() && request.forced.empty()) return view;
  topology::NicMerge how{.same_rail = request.same_rail,
                         .forced = topology::ParseForcedMerge(request.forced)};
  if (!request.merge_level.empty()) {
    RINGLET_TRY_ASSIGN(how.level, topology::ParseMergeLevel(request.merge_level));
  }
  return topology::MergeNics(view, how);
}

int Run(const DumpRequest& request) {
  const Result<LoadedTopology> loaded = LoadTopology(request.source);
  if (!loaded.ok()) return Fail("topo dump", loaded.error());
  for (const std::string& missing : loaded->missing) PrintNote("topo dump", missing);
  const Result<topology::HostView> view = Merged(loaded->view, request);
  if (!view.ok()) return Fail("topo dump", view.error());
  fmt::print("{}", topology::ToXml(*view));
  return kExitDone;
}

}  // namespace

void AddTopoDump(CLI::App& topo, Action& chosen) {
  CLI::App* dump = topo.add_subcommand("dump", "Write a machine as NCCL's XML");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<DumpRequest>();
  AddTopoSource(*dump, request->source);
  dump->add_option("--merge-nics", request->merge_level,
                   "Merge NICs as network plugins do, up to this distance, as in "
                   "NCCL_NET_MERGE_LEVEL: LOC, PORT, PIX, PXB, P2C, PXN, PHB or SYS");
  dump->add_option(
      "--force-merge", request->forced,
      "Merge these NICs first, as in NCCL_NET_FORCE_MERGE: \"mlx5_0,mlx5_1;mlx5_2,mlx5_3\"");
  dump->add_flag("--same-rail", request->same_rail, "Merge only NICs of one rail");
  dump->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
