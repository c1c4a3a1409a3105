// Judges a machine by comparison of its own devices, by known facts of their models, and by an
// expected machine. docs/howto/check-a-machine.md has the rules.
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
  /// Positions of the view's parts in its file; may be empty.
  const Positions& positions;
  /// The linter's findings on that file; may be empty.
  std::span<const Finding> findings = {};
  /// Link states of this machine; empty for a file.
  std::span<const LinkState> links = {};
  /// The reference machine; null: only the machine's own devices are compared.
  const HostView* expected = nullptr;
  std::string_view expected_name = {};
};

/// Returns the defects: the worst ones first, then in the order of the rules.
///
/// Devices of one model are peers. If peers differ in a single value, the majority is right. An
/// even split is a defect only of GPUs on one board. Fewer rules apply to a skeleton, because it
/// does not describe GPUs.
/// \pre   view.Check() has passed, and that of `expected`
/// Cost   O(parts * GPUs)
std::vector<Defect> Check(const CheckInput& input);

/// Returns true if the view has a GPU, or a function of a GPU's class.
bool HasGpus(const HostView& view);

}  // namespace ringlet::topology
