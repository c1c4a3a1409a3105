// A machine as the commands draw it: its graph and paths, what the check finds, and the picture.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tool/draw/drawing.hpp"
#include "tool/draw/page.hpp"
#include "tool/input/topo_source.hpp"
#include "topo/check/check.hpp"
#include "topology/graph/graph.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::cli {

struct DrawnMachine {
  std::string title;
  topology::HostView view;
  std::vector<std::string> told;           ///< facts that discovery did not find; hints
  std::unique_ptr<topology::Graph> graph;  ///< where `paths` expects it
  topology::Paths paths;
  std::vector<topology::Defect> defects;
  Drawing drawing;

  /// \pre the paths are found
  PageMachine page() const;
};

struct DrawMachineOptions {
  std::string title = {};  ///< empty: the source of the machine
  bool paths = false;      ///< whether they are found: a page has them, a picture has not
  /// Another machine that this one should be like, for the check; null: only its own devices are
  /// compared.
  const DrawnMachine* expected = nullptr;
};

/// Errors  as LoadTopology and Build, with paths as FindPaths; kUnsupported as CheckDrawable
Result<DrawnMachine> DrawMachine(const TopoSource& source, const DrawMachineOptions& options);

/// For the page, those of the whole machine too.
std::vector<PageFinding> PageFindingsOf(const topology::Graph& graph,
                                        const topology::HostView& view,
                                        std::span<const topology::Defect> defects);

}  // namespace ringlet::cli
