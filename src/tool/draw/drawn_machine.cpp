#include "tool/draw/drawn_machine.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "discovery/pci_tree.hpp"
#include "os/fs/conf_files.hpp"
#include "os/fs/file_tree.hpp"
#include "os/process/env.hpp"
#include "tool/draw/drawn_facts.hpp"
#include "tool/draw/topo_layout.hpp"
#include "topology/paths/known_drivers.hpp"

namespace ringlet::cli {
namespace {

/// Returns the link states of this machine. Files do not have link states.
std::vector<topology::LinkState> LinkStatesOf(const TopoSource& source) {
  const bool here = source.file.empty() && source.root.empty() && source.synthetic.empty();
  if (!here) return {};
  const auto files = os::FileTree::Open("/");
  return files.ok() ? discovery::ReadLinkStates(*files) : std::vector<topology::LinkState>();
}

Result<topology::Paths> PathsOf(const topology::HostView& view, const topology::Graph& graph) {
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(os::ReadEnvironment()));
  RINGLET_TRY_ASSIGN(topology::PathOptions options, topology::ReadPathOptions(settings));
  options.peer_access = topology::KnownPeerAccess({&view, 1}, graph);
  return topology::FindPaths(graph, 0, options);
}

/// Writes lines below the picture about parts that it omits, such as ports that are down.
void AddLines(const std::vector<std::string>& told, Drawing& drawing) {
  constexpr double kMargin = 24, kLine = 16, kSize = 10;
  constexpr double kWidthMax = 1200;
  constexpr std::size_t kLinesMax = 8;
  for (const std::string& line : std::span(told).first(std::min(told.size(), kLinesMax))) {
    const double width = std::min(kWidthMax, TextWidth(line, kSize) + 2 * kMargin);
    drawing.width = std::max(drawing.width, width);
    drawing.words.push_back({.x = kMargin,
                             .y = drawing.height,
                             .text = Fitted(line, kSize, drawing.width - 2 * kMargin),
                             .size = kSize});
    drawing.height += kLine;
  }
}

}  // namespace

PageMachine DrawnMachine::page() const {
  return {.title = title,
          .drawing = drawing,
          .paths = paths,
          .findings = PageFindingsOf(*graph, view, defects)};
}

Result<DrawnMachine> DrawMachine(const TopoSource& source, const DrawMachineOptions& options) {
  RINGLET_TRY_ASSIGN(LoadedTopology loaded, LoadTopology(source));
  DrawnMachine machine;
  machine.title = options.title.empty() ? loaded.title : options.title;
  machine.told = std::move(loaded.missing);
  if (std::string hint = SkeletonHint(loaded.view); !hint.empty())
    machine.told.push_back(std::move(hint));
  RINGLET_TRY_ASSIGN(topology::Graph graph,
                     topology::Build({&loaded.view, 1}, {},
                                     {.gpus = topology::GpuRanks::kAll, .unknown_net = false}));
  RINGLET_TRY(CheckDrawable(graph));
  machine.graph = std::make_unique<topology::Graph>(std::move(graph));
  if (options.paths) {
    RINGLET_TRY_ASSIGN(machine.paths, PathsOf(loaded.view, *machine.graph));
  }
  const std::vector<topology::LinkState> links = LinkStatesOf(source);
  topology::CheckInput input{.view = loaded.view, .positions = loaded.positions, .links = links};
  if (options.expected != nullptr) {
    input.expected = &options.expected->view;
    input.expected_name = options.expected->title;
  }
  machine.defects = topology::Check(input);
  machine.view = std::move(loaded.view);
  const DrawnFacts facts = FactsOf(*machine.graph, machine.view, machine.defects);
  machine.drawing = LayOut(*machine.graph, machine.title, nullptr, &facts);
  AddLines(machine.told, machine.drawing);
  return machine;
}

std::vector<PageFinding> PageFindingsOf(const topology::Graph& graph,
                                        const topology::HostView& view,
                                        std::span<const topology::Defect> defects) {
  std::vector<PageFinding> findings;
  for (const topology::Defect& defect : defects) {
    PageFinding& finding = findings.emplace_back();
    finding.severity = defect.severity;
    finding.text = defect.name.empty() ? defect.reason : defect.name + ": " + defect.reason;
    for (const auto& [node, facts] : FactsOf(graph, view, {&defect, 1}))
      if (facts.severity) finding.node = node;
  }
  return findings;
}

}  // namespace ringlet::cli
