// Writes what `ringlet bench` measured as a file of results, to which more can be added.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tool/results/report.hpp"

namespace ringlet::cli {

/// The facts that a run does not say itself.
struct ResultHead {
  std::string where, when, command;
  std::string layout;               ///< hosts and links in words; empty: the ranks say it
  std::vector<std::string> beside;  ///< "Open MPI v5.0.11"
};

/// `file`, the text of a file of results, with `run` added; a new one where it is empty.
/// \param run  as ToJson has it
/// Errors  kInvalidArgument  `file` is none, or of another machine or day
Result<std::string> WithRun(const std::string& path, std::string_view file, const ResultHead& head,
                            const std::string& run);

/// The same for the file at `path`, which is made where there is none. Errors as WithRun; kSystem
Status AddResult(const std::string& path, const ResultHead& head, const BenchReport& report);

}  // namespace ringlet::cli
