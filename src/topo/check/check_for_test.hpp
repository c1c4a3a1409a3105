// The common parts of tests of the check's rules.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "topo/check/check.hpp"
#include "topo/edit/synthetic.hpp"

namespace ringlet::topology {

/// Four switches at each of two NUMA nodes, with a GPU and a NIC: an HGX H100.
inline constexpr std::string_view kHgxH100 = "2x(numa: 4x(switch: gpu h100-sxm5 switch, nic 400g))";
inline const HostView& GoodHgx() {
  static const HostView view = ParseSynthetic(kHgxH100).value();
  return view;
}
/// The same machine with cards, without a board.
inline constexpr std::string_view kCards = "2x(numa: 2x(switch: 2 gpu a100-pcie, nic))";

/// Returns a changed machine in words.
template <typename Change>
HostView DefectiveView(std::string_view words, Change change) {
  HostView view = ParseSynthetic(words).value();
  change(view);
  EXPECT_TRUE(view.Check().ok());
  return view;
}

inline std::vector<Defect> DefectsOf(const HostView& view, const HostView* expected = nullptr) {
  const Positions none;
  return Check({.view = view, .positions = none, .expected = expected, .expected_name = "good"});
}

/// Returns "severity rule address name" of each defect.
inline std::vector<std::string> Judged(const HostView& view, const HostView* expected = nullptr) {
  std::vector<std::string> said;
  for (const Defect& defect : DefectsOf(view, expected)) {
    std::string line = std::string(SeverityName(defect.severity)) + " ";
    line += defect.rule->word;
    if (!defect.where.empty()) line += " " + defect.where;
    said.push_back(line + " " + defect.name);
  }
  return said;
}

template <typename Change>
std::vector<std::string> JudgedAfter(std::string_view words, Change change) {
  return Judged(DefectiveView(words, change));
}

}  // namespace ringlet::topology
