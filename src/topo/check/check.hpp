// A verdict on a machine: what is not as it should be, by its own devices, by what is known of
// their models, and by a machine that it should be like. docs/howto/check-a-machine.md has the
// rules.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/check/defect.hpp"
#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

struct CheckInput {
  const HostView& view;
  /// Of the parts of the view, if it was read from a file; may be empty.
  const Positions& positions;
  /// Of that file, by the linter; may be empty.
  std::span<const Finding> findings = {};
  /// Of the machine itself; of a file there are none.
  std::span<const LinkState> links = {};
  /// The machine that the view should be like; null: only its own devices are compared.
  const HostView* expected = nullptr;
  std::string_view expected_name = {};
};

/// The worst ones first, then in the order of the rules.
///
/// Devices are peers if they are of one model; of those that are told apart by nothing but one
/// value, most are right. Half and half is no defect but of GPUs on one board. A skeleton has fewer
/// rules: it says nothing of GPUs.
/// \pre   view.Check() has passed, and that of `expected`
/// Cost   O(parts * GPUs)
std::vector<Defect> Check(const CheckInput& input);

/// Whether there is something to judge: a GPU, or a function that is one by its class.
bool HasGpus(const HostView& view);

}  // namespace ringlet::topology
