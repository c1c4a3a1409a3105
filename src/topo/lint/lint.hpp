// Lists the defects of a topology, with their evidence and cure. docs/reference/topology.md lists
// the rules with their sources.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Returns the findings of the view itself, in order of place.
/// \param positions  of the parts, if the view was read from a file; may be empty
/// \param file       the name for findings; may be empty
/// \pre   view.Check() has passed
/// Cost   O(parts log parts), but O(n^2) for the GPUs of one PCI function
std::vector<Finding> Lint(const HostView& view, const Positions& positions, std::string_view file);

struct LintReport {
  std::optional<HostView> view;  ///< empty if the text does not contain a topology
  std::vector<Finding> findings;
  Positions positions;  ///< of the parts of the view
};

/// Returns all known defects of a file: its form, its syntax, and the findings of Lint.
LintReport LintXml(std::string_view text, std::string_view file);

/// Returns true if NCCL would fail, or see another machine than the real one.
bool HasError(const std::vector<Finding>& findings);

}  // namespace ringlet::topology
