// A machine as the commands draw it: its graph and paths, findings of the check, and the picture.
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
  std::vector<std::string> told;           ///< facts that discovery did not find, and hints
  std::unique_ptr<topology::Graph> graph;  ///< on the heap, because `paths` refers to it
  topology::Paths paths;
  std::vector<topology::Defect> defects;
  Drawing drawing;

  /// \pre the paths have been found
  PageMachine page() const;
};

struct DrawMachineOptions {
  std::string title = {};  ///< empty: the source of the machine
  bool paths = false;      ///< find the paths; a page needs them, a picture does not
  /// The reference machine for the check. Null: compare the machine's devices with each other only.
  const DrawnMachine* expected = nullptr;
};

/// Errors  as LoadTopology and Build; with paths as FindPaths; kUnsupported as CheckDrawable
Result<DrawnMachine> DrawMachine(const TopoSource& source, const DrawMachineOptions& options);

/// Returns the findings for the page, including those about the whole machine.
std::vector<PageFinding> PageFindingsOf(const topology::Graph& graph,
                                        const topology::HostView& view,
                                        std::span<const topology::Defect> defects);

}  // namespace ringlet::cli
