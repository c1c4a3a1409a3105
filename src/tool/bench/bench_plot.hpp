// `ringlet bench plot`: what `ringlet bench OPERATION --json` wrote, as a picture.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/draw/chart.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `bench`. When it is the one that was named, parsing sets `chosen`.
void AddBenchPlot(CLI::App& bench, Action& chosen);

/// One file of `ringlet bench OPERATION --json`.
struct BenchFile {
  std::string path;
  std::string text;
};

/// Which run of a file of results (bench/results/README.md) is drawn.
struct RunChoice {
  std::string operation = {};  ///< empty: any
  std::uint32_t ranks = 0;     ///< 0: any
};
/// The run that `choice` names, where `file` holds several; else `file` itself.
/// Errors  kInvalidArgument  it names none of them, or several
Result<BenchFile> ChosenRun(BenchFile file, const RunChoice& choice);

/// A curve for Ringlet and one for each peer of each file; with several files their names begin
/// with what tells the files apart: the operation and ranks, or the file where these are the same.
/// Errors  kInvalidArgument  names the file that is none, or that holds nothing to draw
Result<Chart> ChartOf(const std::vector<BenchFile>& files);

}  // namespace ringlet::cli
