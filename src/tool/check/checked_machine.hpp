// One machine with the verdict of the check and the costs of its defects.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tool/check/check_rates.hpp"
#include "topo/check/check.hpp"

namespace ringlet::cli {

/// A machine before the check.
struct MachineToCheck {
  std::string title;  ///< "node17.xml", "this machine"
  std::optional<topology::HostView> view = {};
  topology::Positions positions = {};
  std::vector<topology::Finding> findings = {};  ///< findings of the linter
  std::string refusal = {};                      ///< reason if `view` is null
  std::vector<topology::LinkState> links = {};   ///< link states of this machine
  std::vector<std::string> missing = {};         ///< facts that discovery did not find
};

/// Reads a file, or "this" machine. If the file cannot be read, the result has a refusal.
MachineToCheck ReadMachine(const std::string& source);

struct CheckedMachine {
  std::string title;
  std::string refusal = {};  ///< reason if there is no verdict; else empty
  std::vector<topology::Defect> defects = {};
  MachineCosts costs = {};

  /// Severity of the worst defect. Null if the machine does not have a defect.
  std::optional<topology::Severity> worst() const;
};

/// \param expected  may be null
CheckedMachine CheckMachine(const MachineToCheck& machine, const topology::HostView* expected,
                            std::string_view expected_name, CheckRates& rates);

}  // namespace ringlet::cli
