#include "topo/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topo/check/check_context.hpp"
#include "topo/edit/complete.hpp"

namespace ringlet::topology {
namespace {

/// Skips the linter's notes, because they are not defects.
std::vector<Defect> OfFile(std::span<const Finding> findings) {
  std::vector<Defect> defects;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::kNote) continue;
    Defect defect{.rule = &DefectRuleOf(kFileRule), .at = finding.at};
    if (finding.at.line != 0) defect.where = fmt::format("line {}", finding.at.line);
    defect.name = finding.path;
    defect.lint_rule = finding.rule;
    defect.reason = finding.reason;
    defect.cure = finding.cure;
    defect.severity = finding.severity;
    defects.push_back(std::move(defect));
  }
  return defects;
}

/// Adds a note to a skeleton, because the file lacks what most rules compare.
void CheckSkeleton(CheckContext& context) {
  if (!IsSkeleton(context.view())) return;
  context.Add("skeleton", {},
              fmt::format("{} GPUs, {} NICs", context.gpus().size(), context.nics().size()),
              "the file describes only their PCI functions, so the check compares their PCIe links "
              "and NUMA nodes, but not NVLinks, ports and GPUDirect RDMA",
              "check the machine itself, or the file that NCCL_TOPO_DUMP_FILE makes on it", {});
}

/// Removes properties of the kind of machine if the expected machine has them, too.
void ForgetExpected(std::vector<Defect>& defects, const HostView& expected) {
  const Positions none;
  CheckContext context(expected, none);
  CheckGpus(context);
  CheckNarrowLinks(context);
  const std::vector<Defect> known = context.Take();
  std::erase_if(defects, [&](const Defect& defect) {
    if (defect.rule->remedy != Remedy::kNone && defect.rule->remedy != Remedy::kEditFile)
      return false;
    return std::ranges::any_of(known, [&](const Defect& other) {
      return other.rule == defect.rule && other.reason == defect.reason;
    });
  });
}

}  // namespace

std::vector<Defect> Check(const CheckInput& input) {
  CheckContext context(input.view, input.positions);
  CheckGpus(context);
  CheckGpuLinks(context);
  CheckNics(context);
  CheckNarrowLinks(context);
  CheckSkeleton(context);
  CheckLinkStates(context, input.links);
  if (input.expected != nullptr) CheckExpected(context, *input.expected, input.expected_name);
  std::vector<Defect> defects = context.Take();
  if (input.expected != nullptr) ForgetExpected(defects, *input.expected);
  for (Defect& defect : OfFile(input.findings)) defects.push_back(std::move(defect));
  std::stable_sort(defects.begin(), defects.end(), [](const Defect& a, const Defect& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return a.rule < b.rule;
  });
  return defects;
}

bool HasGpus(const HostView& view) {
  return !CheckContext(view, {}).gpus().empty();
}

}  // namespace ringlet::topology
