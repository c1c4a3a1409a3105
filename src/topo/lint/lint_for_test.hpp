// The common parts of tests of the linter's rules.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "topo/edit/synthetic.hpp"
#include "topo/lint/lint.hpp"

namespace ringlet::topology {

/// Returns "severity rule path" of each finding about a view.
inline std::vector<std::string> FindingLines(const HostView& view) {
  std::vector<std::string> said;
  for (const Finding& finding : Lint(view, {}, ""))
    said.push_back(std::string(SeverityName(finding.severity)) + " " + finding.rule + " " +
                   finding.path);
  return said;
}

/// Returns the findings about a changed machine in words.
template <typename Change>
std::vector<std::string> FindingLinesAfter(std::string_view words, Change change) {
  HostView view = ParseSynthetic(words).value();
  change(view);
  EXPECT_TRUE(view.Check().ok());
  return FindingLines(view);
}

}  // namespace ringlet::topology
