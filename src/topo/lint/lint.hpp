// Says what is wrong with a topology, how one sees it, and what to do about it.
// docs/reference/topology.md lists the rules with their sources.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// The findings of the view itself, in order of place.
/// \param positions  of the parts, if the view was read from a file; may be empty
/// \param file       the name for findings; may be empty
/// \pre   view.Check() has passed
/// Cost   O(parts log parts), but of one PCI function's GPUs O(n^2)
std::vector<Finding> Lint(const HostView& view, const Positions& positions, std::string_view file);

struct LintReport {
  std::optional<HostView> view;  ///< empty where the text is no topology
  std::vector<Finding> findings;
  Positions positions;  ///< of the parts of the view
};

/// All that is known to be wrong with a file: its form, what does not parse, and what Lint says.
LintReport LintXml(std::string_view text, std::string_view file);

/// Whether NCCL would fail, or see another machine than the real one.
bool HasError(const std::vector<Finding>& findings);

}  // namespace ringlet::topology
