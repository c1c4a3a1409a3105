// Failed operations in the form for PyTorch's callers. Included by module.cpp only.
#pragma once

#include <torch/csrc/distributed/c10d/debug.h>

#include "pytorch/calls/rank_in_group.hpp"
#include "pytorch/execution/hooks.hpp"
#include "pytorch/execution/python.hpp"
#include "pytorch/execution/work.hpp"
#include "pytorch/store/call_lines.hpp"

namespace ringlet::torch_api {

/// The result of an operation in its turn.
struct Outcome {
  std::exception_ptr thrown = nullptr;
  std::optional<Error> error = {};
  std::shared_ptr<CallLines> lines = nullptr;  ///< for mismatched calls
  CallLine line = {};                          ///< as lines

  bool ok() const { return thrown == nullptr && !error; }
};

/// Creates the exceptions of a group's failed operations, runs the hooks for a failure or an abort,
/// and keeps the kind of the last failure. Any thread may call all functions.
class Failures {
 public:
  Hooks<>& abort_hooks() { return abort_hooks_; }
  c10d::ErrorType last() const { return last_; }
  /// Resets the last failure when the group is formed anew.
  void Forget() { last_ = c10d::ErrorType::SUCCESS; }

  /// Returns the program line at which this thread calls an asynchronous operation; empty if
  /// PyTorch's debug level is off. A synchronous operation finds its line after a failure.
  static std::string LineToKeep() {
    return c10d::debug_level() == c10d::DebugLevel::Off ? "" : PythonLine();
  }

  /// Returns the exception of an operation on its caller's thread. Call it outside the turn.
  std::exception_ptr Here(const RankInGroup& place, const char* operation, const Outcome& outcome) {
    return At(place, outcome.lines ? PythonLine() : "", operation, outcome);
  }
  /// Returns the exception of an operation that ran beside its caller. \param line  from LineToKeep
  std::exception_ptr Beside(const RankInGroup& place, const std::string& line,
                            const char* operation, const Outcome& outcome) {
    const char* const none = "an asynchronous call; TORCH_DISTRIBUTED_DEBUG=INFO keeps its line";
    return At(place, line.empty() ? none : line, operation, outcome);
  }
  std::exception_ptr Of(const RankInGroup& place, const char* operation, const Error& error) {
    last_ = error.code == Code::kTimeout ? c10d::ErrorType::TIMEOUT : c10d::ErrorType::COMM_ERROR;
    abort_hooks_.Run();
    return ToException(
        error, fmt::format("ringlet: rank {} of {}: {}", place.rank, place.size, operation));
  }

 private:
  std::exception_ptr At(const RankInGroup& place, const std::string& line, const char* operation,
                        const Outcome& outcome) {
    if (outcome.thrown) return outcome.thrown;
    Error error = *outcome.error;
    if (outcome.lines) {
      CallLine mine = outcome.line;
      mine.line = line;
      error.message += outcome.lines->Exchange(mine);
    }
    return Of(place, operation, error);
  }

  std::atomic<c10d::ErrorType> last_{c10d::ErrorType::SUCCESS};
  Hooks<> abort_hooks_;
};

}  // namespace ringlet::torch_api
