// The facts of a machine that its graph does not keep, by the node of the picture that shows them:
// PCIe generation and lanes, bonds, states of ports, and what the check finds wrong. Pure.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topo/check/defect.hpp"
#include "topology/graph/graph.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

struct NodeFacts {
  std::string pcie;                                 ///< of the link up: "gen4 x16"; empty: unknown
  std::optional<topology::Severity> severity = {};  ///< of the worst defect
  bool link_is_worst = false;                       ///< that defect is of the PCIe link
  std::string state;                                ///< a word or two of a port: "bond of 2"
  bool rate_is_unknown = false;                     ///< of a port, as of one that is down
  std::vector<std::string> sentences;               ///< all that is to be said of it
};

/// Of switches, GPUs (kDev), NICs, and ports without one.
using DrawnFacts = std::map<topology::NodeIndex, NodeFacts>;

/// \param graph    built from the view
/// \param defects  of the view; those of the whole machine and of files have no node
DrawnFacts FactsOf(const topology::Graph& graph, const topology::HostView& view,
                   std::span<const topology::Defect> defects);

}  // namespace ringlet::cli
