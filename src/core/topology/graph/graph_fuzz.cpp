// Builds graph and paths from any topology file. The graph keeps its invariants, routes are as long
// as their paths, and fused and pruned views are valid views.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "topo/edit/fuse.hpp"
#include "topology/paths/trim.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kNodesTried = 200;  // routes of all pairs take too long

void Require(bool condition) {
  if (!condition) std::abort();
}

void TryRoutes(const Paths& paths) {
  for (std::uint32_t from = paths.system().first; from < paths.system().end; ++from) {
    for (std::uint32_t to = paths.system().first; to < paths.system().end; ++to) {
      const Path path = paths.From(NodeIndex{from}, NodeIndex{to});
      const std::vector<Hop> route = paths.Route(NodeIndex{from}, NodeIndex{to});
      Require(route.size() == path.hops);
      NodeIndex at{from};
      for (const Hop& hop : route) {
        Require(hop.from == at);
        at = hop.to;
      }
      Require(path.type >= PathType::kNet || at == NodeIndex{to});
    }
  }
}

void TryGraph(const HostView& view, Rules rules) {
  const Result<Graph> graph =
      Build({&view, 1}, {}, {.rules = rules, .gpus = GpuRanks::kAll, .unknown_net = false});
  if (!graph.ok()) return;
  Require(graph->Check().ok());
  for (std::uint32_t system = 0; system < graph->systems().size(); ++system) {
    const SystemNodes& nodes = graph->systems()[system];
    if (nodes.end - nodes.first > kNodesTried) continue;
    for (const bool as_wired : {false, true}) {
      PathOptions options;
      options.as_wired = as_wired;
      const Result<Paths> paths = FindPaths(*graph, system, options);
      if (!paths.ok()) continue;
      TryRoutes(*paths);
      for (const NodeIndex gpu : paths->Of(NodeKind::kGpu)) {
        const Result<Graph> kept = TrimToDomain(*paths, Rank{graph->at(gpu).number});
        Require(kept.ok() && kept->rank_count() > 0);
        break;
      }
    }
  }
}

void TryView(const HostView& view) {
  TryGraph(view, Rules::kRinglet);
  TryGraph(view, Rules::kNccl);
  const HostView pruned = Prune(view);
  Require(pruned.Check().ok());
  const Result<Fused> mixed = Fuse(std::vector<HostView>{view, pruned, view});
  Require(!mixed.ok() || mixed->view.Check().ok());
  const Result<Fused> twice = Fuse(std::vector<HostView>{view, view});
  if (!twice.ok()) return;
  Require(twice->view.Check().ok());
  Require(twice->view.pci.size() == view.pci.size());
  Require(twice->view.gpus.size() == view.gpus.size());
}

}  // namespace
}  // namespace ringlet::topology

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto view = ringlet::topology::ViewFromXml(text, "");
  if (view.ok()) ringlet::topology::TryView(*view);
  return 0;
}
