// Facts of a machine that its graph does not store, keyed by the node of the picture that shows
// them: PCIe generation and lanes, bonds, states of ports, and findings of the check. Pure.
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
  std::string pcie;  ///< PCIe link to the parent: "gen4 x16"; empty: unknown
  std::optional<topology::Severity> severity = {};  ///< severity of the worst defect
  bool link_is_worst = false;                       ///< the worst defect is in the PCIe link
  std::string state;             ///< state of a port in a word or two: "bond of 2"
  bool rate_is_unknown = false;  ///< a port without a known rate, for example because it is down
  std::vector<std::string> sentences;  ///< all remarks about the node
};

/// Facts of switches, GPUs (kDev), NICs, and ports without a NIC.
using DrawnFacts = std::map<topology::NodeIndex, NodeFacts>;

/// \param graph    built from the view
/// \param defects  defects of the view; those of the whole machine or of files have no node
DrawnFacts FactsOf(const topology::Graph& graph, const topology::HostView& view,
                   std::span<const topology::Defect> defects);

}  // namespace ringlet::cli
