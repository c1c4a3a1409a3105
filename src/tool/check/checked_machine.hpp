// One machine and what the check says of it, with what that costs.
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
  std::vector<topology::Finding> findings = {};  ///< of the linter
  std::string refusal = {};                      ///< why there is no view
  std::vector<topology::LinkState> links = {};   ///< of this machine
  std::vector<std::string> missing = {};         ///< facts that discovery did not find
};

/// A file, or "this"; a file that cannot be read is one with a refusal.
MachineToCheck ReadMachine(const std::string& source);

struct CheckedMachine {
  std::string title;
  std::string refusal = {};  ///< no verdict: why; empty: there is one
  std::vector<topology::Defect> defects = {};
  MachineCosts costs = {};

  /// Of the worst defect; nothing where there is none.
  std::optional<topology::Severity> worst() const;
};

/// \param expected  may be null
CheckedMachine CheckMachine(const MachineToCheck& machine, const topology::HostView* expected,
                            std::string_view expected_name, CheckRates& rates);

}  // namespace ringlet::cli
