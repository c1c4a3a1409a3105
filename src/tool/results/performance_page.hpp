// docs/performance.md, from files of results. Pure.
#pragma once
#include <string>
#include <vector>

#include "tool/results/result_file.hpp"

namespace ringlet::cli {

/// A part for each file, in the order of `ResultFile::order` and then as given: what was measured,
/// where, when and beside which others; tables; and each cell in which another was faster.
std::string PerformancePage(std::vector<ResultFile> files);

/// The layout of a run, or its ranks.
std::string LayoutOf(const ResultRun& run);

}  // namespace ringlet::cli
