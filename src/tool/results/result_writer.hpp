// Writes the results of `ringlet bench` to a file of results, or adds them to an existing one.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tool/results/report.hpp"

namespace ringlet::cli {

/// The facts that a run does not contain.
struct ResultHead {
  std::string where, when, command;
  std::string layout;               ///< hosts and links in words; empty: derived from the ranks
  std::vector<std::string> beside;  ///< "Open MPI v5.0.11"
};

/// Returns `file`, the text of a file of results, with `run` added. Creates a file if it is empty.
/// \param run  in the format of ToJson
/// Errors  kInvalidArgument  `file` does not parse, or is of another machine or day
Result<std::string> WithRun(const std::string& path, std::string_view file, const ResultHead& head,
                            const std::string& run);

/// Adds a run to the file at `path`. Creates it if it is missing. Errors as WithRun; kSystem
Status AddResult(const std::string& path, const ResultHead& head, const BenchReport& report);

}  // namespace ringlet::cli
