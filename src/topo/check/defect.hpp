// A defect of a machine: where it is, what is wrong, what to do, and what a repair would change.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/check/repair.hpp"
#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// The action of an operator upon a defect.
enum class Remedy : std::uint8_t {
  kNone,      ///< nothing; it is worth knowing
  kEditFile,  ///< mend the topology file; the machine may be well
  kRepair,    ///< mend the machine when it is free; jobs run, but slower
  kDrain,     ///< take the machine out of service
};
std::string_view NameOf(Remedy remedy);  ///< "none", "edit-file", "repair", "drain"

/// A kind of defect. Severity and remedy are fixed, so that scripts can rely on them.
struct DefectRule {
  std::string_view word;  ///< stable, for scripts: "gpu-pcie"
  Severity severity;
  Remedy remedy;
  std::string_view title;  ///< of a group: "GPUs with slower PCIe than their peers"
};
std::span<const DefectRule> DefectRules();
/// \pre  it is one of DefectRules()
const DefectRule& DefectRuleOf(std::string_view word);
/// The word of the rule for what the linter says of a file.
inline constexpr std::string_view kFileRule = "file";

/// The words of the rules for narrow links: of those that cost bandwidth, or may; and of those that
/// cost nothing, which only plans of the machine can tell.
inline constexpr std::string_view kNarrowRule = "narrow-link";
inline constexpr std::string_view kIdleNarrowRule = "narrow-link-idle";

struct Defect {
  const DefectRule* rule = nullptr;
  Part part = {};              ///< of the view; kSystem: of the whole machine
  std::string where = {};      ///< "0000:5b:00.0"; a place in a file; empty: the whole machine
  std::string name = {};       ///< "GPU3 (h100-sxm5)", "NIC mlx5_4"
  TextPosition at = {};        ///< in the file of the view, if it was read from one
  std::string lint_rule = {};  ///< of kFileRule: the linter's word
  std::string reason = {};
  std::string cure = {};
  std::vector<Change> repair = {};  ///< empty: no plan can show what a repair gives

  /// Of a file's finding the linter's severity, of others the rule's.
  Severity severity = Severity::kError;
};

}  // namespace ringlet::topology
