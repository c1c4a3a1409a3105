// Child processes: starts them, reads their output, signals them, and leaves none behind.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/settings/env_map.hpp"
#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

struct Command {
  std::vector<std::string> arguments;  ///< the program, found by this process's PATH, then its own
  EnvMap environment;                  ///< complete: the child inherits no variable
  /// A descriptor for its standard input, owned by the caller; -1: no input.
  int input = -1;
};

/// The end of a child: an exit with `status`, or a death by `signal` if that is not 0.
struct ChildExit {
  int status = 0;
  int signal = 0;
  bool ok() const { return status == 0 && signal == 0; }
  bool operator==(const ChildExit&) const = default;
};

/// "exited with status 3", "was killed by signal 9 (SIGKILL)".
std::string ToString(const ChildExit& ended);

/// A running program and its children, as one process group.
///
/// Its standard input is empty unless the command has one. Read its output from output() and
/// errors(). It starts with no signal blocked, and with default actions for SIGINT and SIGQUIT.
/// When the thread that started it ends, in whatever way, the kernel kills it.
class Child {
 public:
  /// Errors  kSystem  the program cannot run (the message names it), or processes or descriptors
  ///                  are exhausted
  static Result<Child> Start(const Command& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  /// Kills a still running child.
  ~Child();

  int pid() const { return pid_; }
  /// Non-blocking pipes; see ReadAvailable.
  const Fd& output() const { return output_; }
  const Fd& errors() const { return errors_; }

  /// Sends `signal` to the child and its children. Has no effect after its end.
  void Signal(int signal);

  /// Returns the child's end, if it has ended; does not block. Kills processes it left running.
  std::optional<ChildExit> Poll();

 private:
  Child(int pid, Fd output, Fd errors)
      : pid_(pid), output_(std::move(output)), errors_(std::move(errors)) {}

  int pid_ = 0;  // 0: moved from
  Fd output_, errors_;
  std::optional<ChildExit> ended_;
};

/// Output read without waiting.
struct Arrived {
  std::string bytes;
  bool end = false;  ///< end of the output
};

/// Reads at most `bytes_max` from a non-blocking descriptor. An error counts as the end.
Arrived ReadAvailable(const Fd& from, std::size_t bytes_max);

}  // namespace ringlet::os
