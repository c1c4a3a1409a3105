// A defect of a machine: place, reason, cure, and the effect of a repair.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/topology.hpp"
#include "topo/check/repair.hpp"
#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

std::string_view NameOf(Remedy remedy);  ///< "none", "edit-file", "repair", "drain"

/// A kind of defect. Scripts can rely on the fixed severity and remedy.
struct DefectRule {
  std::string_view word;  ///< stable, for scripts: "gpu-pcie"
  Severity severity;
  Remedy remedy;
  std::string_view title;  ///< for a group: "GPUs with slower PCIe than their peers"
};
std::span<const DefectRule> DefectRules();
/// \pre  it is one of DefectRules()
const DefectRule& DefectRuleOf(std::string_view word);
/// The word of the rule for the linter's findings on a file.
inline constexpr std::string_view kFileRule = "file";

/// The rules for narrow links: links that cost bandwidth, or may, and links without a cost. Only
/// plans of the machine can prove the latter.
inline constexpr std::string_view kNarrowRule = "narrow-link";
inline constexpr std::string_view kIdleNarrowRule = "narrow-link-idle";

struct Defect {
  const DefectRule* rule = nullptr;
  Part part = {};              ///< of the view; kSystem: the whole machine
  std::string where = {};      ///< "0000:5b:00.0"; a place in a file; empty: the whole machine
  std::string name = {};       ///< "GPU3 (h100-sxm5)", "NIC mlx5_4"
  TextPosition at = {};        ///< in the view's file, if it has one
  std::string lint_rule = {};  ///< the linter's word, for kFileRule
  std::string reason = {};
  std::string cure = {};
  std::vector<Change> repair = {};  ///< empty: a plan cannot show the gain of a repair

  /// The linter's severity for a file's finding, otherwise the rule's.
  Severity severity = Severity::kError;
};

}  // namespace ringlet::topology
