// The processes of a job on this machine: started together, listened to, ended together.
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
  std::vector<os::Command> commands;  ///< by rank
  Instant grace = std::chrono::seconds(5);
  bool keep_going = false;     ///< a rank that ends badly does not end the others
  InputPump* input = nullptr;  ///< of a command; null: there is none to be served
  /// A line that a rank has written, without its newline.
  std::function<void(Rank, Stream, std::string_view)> on_line;
  /// The first failure, when it is noticed; with keep_going each rank that ends badly. All that the
  /// rank wrote has been given to on_line.
  std::function<void(const RankEnd&)> on_failure;
  /// About once a second, for a display of progress. May be empty.
  std::function<void(Instant now)> on_second;
};

struct LauncherOutcome {
  std::optional<RankEnd> first_failure;
  std::optional<int> user_signal;
  /// As a shell gives it: 0, the status of the first failure, or 128 and the signal.
  int ExitStatus() const;
};

/// Signals that a launcher's launcher must take before it starts threads; see os::SignalQueue.
Result<std::unique_ptr<os::SignalQueue>> TakeSignals();

/// Starts the commands and serves them until all have ended. None is left behind, whatever happens.
/// Errors  kSystem  one could not be started; the others are killed.
Result<LauncherOutcome> LaunchRanks(os::SignalQueue& signals, const LauncherOptions& options);

}  // namespace ringlet::cli
