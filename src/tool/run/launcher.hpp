// Runs the processes of a job on this machine: starts them, reads their output, ends them together.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "os/process/signals.hpp"
#include "tool/run/supervisor.hpp"

namespace ringlet::cli {

class InputPump;

enum class Stream : std::uint8_t { kOutput, kErrors };

struct LauncherOptions {
  std::vector<os::Command> commands;  ///< indexed by rank
  Instant grace = std::chrono::seconds(5);
  bool keep_going = false;     ///< a failed rank does not end the others
  InputPump* input = nullptr;  ///< pump for the input of a command; null: no pump
  /// Called with each line that a rank writes, without its newline.
  std::function<void(Rank, Stream, std::string_view)> on_line;
  /// Called when the first failure is noticed; with keep_going for each failed rank. on_line has
  /// already received the rank's whole output.
  std::function<void(const RankEnd&)> on_failure;
  /// Called about once a second to display progress. May be empty.
  std::function<void(Instant now)> on_second;
};

struct LauncherOutcome {
  std::optional<RankEnd> first_failure;
  std::optional<int> user_signal;
  /// Returns the status as a shell does: 0, that of the first failure, or 128 plus the signal.
  int ExitStatus() const;
};

/// Takes the signals of a launcher. Call it before any thread starts; see os::SignalQueue.
Result<std::unique_ptr<os::SignalQueue>> TakeSignals();

/// Starts the commands and serves them until all have ended. Leaves no process behind in any case.
/// Errors  kSystem  a command could not be started; the others are killed.
Result<LauncherOutcome> LaunchRanks(os::SignalQueue& signals, const LauncherOptions& options);

}  // namespace ringlet::cli
