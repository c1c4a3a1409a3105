// `ringlet explain all_reduce -n 6 -b 1M`: how a collective runs and why: which way through the
// memory of one host, or by which algorithm over links and what every rank then does.
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
  std::uint32_t hosts = 1;  ///< at most `ranks`; the ranks are shared out evenly
  std::size_t bytes = 0;    ///< of the larger of what a rank gives and what it gets
  std::uint32_t root = 0;
  std::optional<std::uint32_t> rank =
      std::nullopt;            ///< the rank whose steps are shown; empty: all ranks
  bool shares_memory = false;  ///< the ranks of each host
};

/// The answer, in several lines. Elements are floats. Pure.
std::string CollectiveText(const CollectiveQuestion& question, const collective::Tuner& tuner);

/// The same as one JSON object: either "ways" (through shared memory), or "links", "candidates" and
/// the steps of "schedules". Pure.
std::string CollectiveJson(const CollectiveQuestion& question, const collective::Tuner& tuner);

/// One subcommand for each operation with a choice of algorithms.
void AddExplainCollective(CLI::App& explain, Action& chosen);

}  // namespace ringlet::cli
