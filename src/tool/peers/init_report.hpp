// The results of `ringlet bench init` as values, as text and as JSON.
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
  bool tree = true;     ///< false: ring
  bool threads = true;  ///< ranks share their process's service thread; false: one process per rank
  std::uint32_t processes = 1;
  bool together = false;  ///< the ranks of a host check in together; false: each for itself
  std::uint32_t roots = 1;
  bool operator==(const InitHead&) const = default;
};

/// The consecutive phases of one bootstrap over all ranks, in milliseconds.
struct Phases {
  double check_in = 0;  ///< from the start until all have checked in and one rank has the roster
  double roster = 0;    ///< until every rank has the roster
  double connect = 0;   ///< until the first rank knows that all are connected
  double go = 0;        ///< until the last rank knows it
  bool operator==(const Phases&) const = default;
};

/// One bootstrap of all ranks, from "every rank has the id" to "every control network stands".
struct Repetition {
  double total_ms = 0;
  Phases phases;
  double cpu_ms = 0;       ///< CPU time of all processes in that time, including the kernel
  double connections = 0;  ///< per rank, including the root's; the same applies to the values below
  double bytes = 0;        ///< bytes sent
  double system_calls = 0;  ///< system calls of the service threads
  bool operator==(const Repetition&) const = default;
};

/// The time of another library, or why it is missing.
struct PeerRun {
  std::string peer;
  std::optional<double> total_ms = std::nullopt;
  std::string trouble = {};  ///< a sentence if there is no time
  bool operator==(const PeerRun&) const = default;
};

struct InitReport {
  InitHead head;
  std::vector<Repetition> repetitions;
  std::vector<PeerRun> peers;  ///< in the order of their ends
};

/// Returns the middle value, or the mean of both middle values; 0 if `values` is empty.
double Median(std::vector<double> values);

/// Returns the median of each value by itself, so the phases need not add up to the total.
Repetition MedianOf(const std::vector<Repetition>& repetitions);

/// The table: the text above the rows, and one number of ranks with the lines of its peers.
std::string InitHeadText(std::uint32_t iterations);
std::string InitRowText(const InitReport& report);
/// Returns one object on one line, with a newline.
std::string InitJson(const InitReport& report);

/// A message from the first process to its launcher, one line each, as report.hpp's WorkerMessage.
using InitMessage = std::variant<Repetition, PeerRun>;
std::string ToLine(const InitMessage& message);
/// Returns null for a line that is not a message.
/// Errors  kProtocol  the line begins like a message but does not parse
Result<std::optional<InitMessage>> ParseInitLine(std::string_view line);

}  // namespace ringlet::cli
