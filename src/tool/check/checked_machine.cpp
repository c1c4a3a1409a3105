#include "tool/check/checked_machine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "discovery/pci_tree.hpp"
#include "os/fs/file_tree.hpp"
#include "tool/input/machine_folder.hpp"
#include "tool/input/topo_source.hpp"
#include "topo/lint/lint.hpp"

namespace ringlet::cli {
namespace {

/// Turns narrow links into notes. Some machines are built with narrow links that cost nothing: for
/// example the uplink of a switch with a GPU that reaches its processor by another path.
void DowngradeToNotes(std::vector<topology::Defect>& defects) {
  for (topology::Defect& defect : defects) {
    if (defect.rule->word != topology::kNarrowRule) continue;
    defect.rule = &topology::DefectRuleOf(topology::kIdleNarrowRule);
    defect.severity = defect.rule->severity;
    defect.cure.clear();
  }
}

}  // namespace

MachineToCheck ReadMachine(const std::string& source) {
  MachineToCheck machine{.title = source};
  if (source == "this") {
    machine.title = "this machine";
    Result<LoadedTopology> loaded = LoadTopology({});
    if (!loaded.ok()) {
      machine.refusal = loaded.error().message;
      return machine;
    }
    machine.view = std::move(loaded->view);
    if (const auto files = os::FileTree::Open("/"); files.ok())
      machine.links = discovery::ReadLinkStates(*files);
    machine.missing = std::move(loaded->missing);
    return machine;
  }
  const Result<std::string> text = ReadMachineText(source);
  if (!text.ok()) {
    machine.refusal = text.error().message;
    return machine;
  }
  if (source == "-") machine.title = "standard input";
  topology::LintReport report = topology::LintXml(*text, machine.title);
  machine.view = std::move(report.view);
  machine.positions = std::move(report.positions);
  machine.findings = std::move(report.findings);
  if (!machine.view) {
    const auto error = std::ranges::find(machine.findings, topology::Severity::kError,
                                         &topology::Finding::severity);
    machine.refusal = error == machine.findings.end() ? "not a topology file" : ToText(*error);
  }
  return machine;
}

std::optional<topology::Severity> CheckedMachine::worst() const {
  if (defects.empty()) return std::nullopt;
  return std::ranges::max_element(defects, {}, &topology::Defect::severity)->severity;
}

CheckedMachine CheckMachine(const MachineToCheck& machine, const topology::HostView* expected,
                            std::string_view expected_name, CheckRates& rates) {
  CheckedMachine checked{.title = machine.title, .refusal = machine.refusal};
  if (!machine.view) return checked;
  const bool is_faulty = std::ranges::any_of(machine.findings, [](const auto& finding) {
    return finding.severity != topology::Severity::kNote;
  });
  if (expected == nullptr && !topology::HasGpus(*machine.view) && !is_faulty) {
    checked.refusal =
        "the machine does not have GPUs; if it should, name the expected machine by --expect";
    return checked;
  }
  checked.defects = topology::Check({.view = *machine.view,
                                     .positions = machine.positions,
                                     .findings = machine.findings,
                                     .links = machine.links,
                                     .expected = expected,
                                     .expected_name = expected_name});
  checked.costs = rates.CostsOf(*machine.view, checked.defects);
  if (checked.costs.narrow_links_are_idle) DowngradeToNotes(checked.defects);
  return checked;
}

}  // namespace ringlet::cli
