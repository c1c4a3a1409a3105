// `ringlet bench plot`: what `ringlet bench OPERATION --json` wrote, as a picture.
#pragma once
#include <CLI/CLI.hpp>

#include "frontends/cli/command.hpp"
#include "frontends/cli/draw/chart.hpp"

namespace ringlet::cli {

/// Adds the command to `bench`. When it is the one that was named, parsing sets `chosen`.
void AddBenchPlot(CLI::App& bench, Action& chosen);

/// One file of `ringlet bench OPERATION --json`.
struct BenchFile {
  std::string path;
  std::string text;
};

/// A curve for Ringlet and one for each peer of each file; with several files their names begin
/// with what tells the files apart: the operation and ranks, or the file where these are the same.
/// Errors  kInvalidArgument  names the file that is none, or that holds nothing to draw
Result<Chart> ChartOf(const std::vector<BenchFile>& files);

}  // namespace ringlet::cli
