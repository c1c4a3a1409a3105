// `ringlet explain all_reduce -n 6 -b 1M`: explains how a collective runs and why. It shows the way
// through the memory of one host, or the algorithm over links and the steps of every rank.
#pragma once
#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "collective/select/select.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

struct CollectiveQuestion {
  collective::CallKind kind = collective::CallKind::kAllReduce;
  std::uint32_t ranks = 4;
  std::uint32_t hosts = 1;  ///< at most `ranks`; the ranks are spread evenly
  std::size_t bytes = 0;    ///< size of the larger of a rank's input and output
  std::uint32_t root = 0;
  std::optional<std::uint32_t> rank =
      std::nullopt;            ///< the rank whose steps are shown; null: all ranks
  bool shares_memory = false;  ///< the ranks of each host share memory
};

/// Returns the explanation in several lines. Elements are floats. Pure.
std::string CollectiveText(const CollectiveQuestion& question, const collective::Tuner& tuner);

/// Returns the explanation as one JSON object. It has "ways" (through shared memory), or "links",
/// "candidates" and the steps in "schedules". Pure.
std::string CollectiveJson(const CollectiveQuestion& question, const collective::Tuner& tuner);

/// Adds one subcommand for each operation with a choice of algorithms.
void AddExplainCollective(CLI::App& explain, Action& chosen);

}  // namespace ringlet::cli
