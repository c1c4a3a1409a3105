// `ringlet bench plot`: draws the output of `ringlet bench OPERATION --json`.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/draw/chart.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `bench`. Parsing it sets `chosen`.
void AddBenchPlot(CLI::App& bench, Action& chosen);

/// A file that `ringlet bench OPERATION --json` wrote.
struct BenchFile {
  std::string path;
  std::string text;
};

/// Selects the run to draw from a file of results (bench/results/README.md).
struct RunChoice {
  std::string operation = {};  ///< empty: any
  std::uint32_t ranks = 0;     ///< 0: any
};
/// Returns the run that `choice` selects if `file` holds several runs; else returns `file`.
/// Errors  kInvalidArgument  `choice` matches no run, or several
Result<BenchFile> ChosenRun(BenchFile file, const RunChoice& choice);

/// Draws one curve for Ringlet and one for each peer of each file. The curves of several files have
/// names that begin with the operation and the ranks, or with the file if these are equal.
/// Errors  kInvalidArgument  names the file that does not parse or does not hold any rows to draw
Result<Chart> ChartOf(const std::vector<BenchFile>& files);

}  // namespace ringlet::cli
