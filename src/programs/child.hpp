// Child processes: started, listened to, signalled, and never left behind.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/settings/env_map.hpp"
#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// The program to run.
struct Command {
  std::vector<std::string> arguments;  ///< the program, found by this process's PATH, then its own
  EnvMap environment;                  ///< all of it: nothing is inherited
  /// A descriptor that becomes its standard input, and stays the caller's; -1: it has none.
  int input = -1;
};

/// How a child ended: by itself with `status`, or, where `signal` is not 0, by that signal.
struct ChildExit {
  int status = 0;
  int signal = 0;
  bool ok() const { return status == 0 && signal == 0; }
  bool operator==(const ChildExit&) const = default;
};

/// "exited with status 3", "was killed by signal 9 (SIGKILL)".
std::string ToString(const ChildExit& ended);

/// A running program and what it has started, as one process group.
///
/// Its standard input is empty unless the command has one; what it writes is read from output() and
/// errors(). It starts with no signal blocked, SIGINT and SIGQUIT with their default actions. When
/// the thread that started it ends, in whatever way, the kernel kills it.
class Child {
 public:
  /// Errors  kSystem  the program cannot be run (the sentence names it), or there are no processes
  ///                  or descriptors left.
  static Result<Child> Start(const Command& command);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  /// Kills what still runs.
  ~Child();

  int pid() const { return pid_; }
  /// Non-blocking pipes; see ReadAvailable.
  const Fd& output() const { return output_; }
  const Fd& errors() const { return errors_; }

  /// Sends `signal` to the child and all that it has started. Nothing happens once it has ended.
  void Signal(int signal);

  /// How it ended, once it has; does not block. Processes that it has started and left running are
  /// killed then.
  std::optional<ChildExit> Poll();

 private:
  Child(int pid, Fd output, Fd errors)
      : pid_(pid), output_(std::move(output)), errors_(std::move(errors)) {}

  int pid_ = 0;  // 0: moved from
  Fd output_, errors_;
  std::optional<ChildExit> ended_;
};

/// The output that could be read without waiting.
struct Arrived {
  std::string bytes;
  bool end = false;  ///< nothing more will come
};

/// Reads at most `bytes_max` from a non-blocking descriptor. An error counts as the end.
Arrived ReadAvailable(const Fd& from, std::size_t bytes_max);

}  // namespace ringlet::os
