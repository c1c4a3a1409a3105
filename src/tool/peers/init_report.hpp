// The findings of `ringlet bench init`, as values, as text and as JSON.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet::cli {

/// The measured job.
struct InitHead {
  std::uint32_t ranks = 0;
  bool tree = true;     ///< else ring
  bool threads = true;  ///< ranks of a process share its service thread; else one process a rank
  std::uint32_t processes = 1;
  bool together = false;  ///< the ranks of a host check in as one; else each for itself
  std::uint32_t roots = 1;
  bool operator==(const InitHead&) const = default;
};

/// The parts of one bootstrap, one after the other over all ranks. Milliseconds.
struct Phases {
  double check_in =
      0;               ///< from the start until the root has heard all, and one rank has the roster
  double roster = 0;   ///< until every rank knows who takes part
  double connect = 0;  ///< until the first rank knows that all are connected
  double go = 0;       ///< until the last one does
  bool operator==(const Phases&) const = default;
};

/// One bootstrap of all ranks, from "every rank has the id" to "every control network stands".
struct Repetition {
  double total_ms = 0;
  Phases phases;
  double cpu_ms = 0;        ///< computed meanwhile by all processes, their kernel's part included
  double connections = 0;   ///< a rank, the root's among them; as are those below
  double bytes = 0;         ///< sent
  double system_calls = 0;  ///< of the service threads
  bool operator==(const Repetition&) const = default;
};

/// The same by another library, or why not.
struct PeerRun {
  std::string peer;
  std::optional<double> total_ms = std::nullopt;
  std::string trouble = {};  ///< a sentence, where there is no time
  bool operator==(const PeerRun&) const = default;
};

struct InitReport {
  InitHead head;
  std::vector<Repetition> repetitions;
  std::vector<PeerRun> peers;  ///< in the order of their end
};

/// Of the middle one, or the mean of both; 0 without any.
double Median(std::vector<double> values);

/// Each value is the median of its own kind, so the parts need not add up.
Repetition MedianOf(const std::vector<Repetition>& repetitions);

/// The table: what stands above the rows, and one number of ranks with its peers' lines.
std::string InitHeadText(std::uint32_t iterations);
std::string InitRowText(const InitReport& report);
/// One object on one line, with its newline.
std::string InitJson(const InitReport& report);

/// The reports of the first process to its launcher, a line each; as report.hpp's WorkerMessage.
using InitMessage = std::variant<Repetition, PeerRun>;
std::string ToLine(const InitMessage& message);
/// Empty for a line that is no message.
/// Errors  kProtocol  it begins like a message and is none.
Result<std::optional<InitMessage>> ParseInitLine(std::string_view line);

}  // namespace ringlet::cli
