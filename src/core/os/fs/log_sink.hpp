// Writes whole log lines to standard output or to RINGLET_DEBUG_FILE.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/log/log.hpp"
#include "base/settings/settings.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {

/// One logger per process or test; passed down, never global. Any thread may call all methods.
///
/// A line is one write(2), so that lines of several processes in one file or pipe do not mix. Lines
/// that cannot be written are dropped: the log never makes a communicator fail.
class Logger {
 public:
  /// Opens RINGLET_DEBUG_FILE for overwriting if it is set and the level is above VERSION, as NCCL
  /// does. On failure logs a warning that names the file, and writes to standard output.
  Logger(const Settings& settings, std::string_view host_name, std::uint32_t pid);

  /// True if Log would write. Call it before composing an expensive text.
  bool IsWanted(LogLevel level, Subsystem subsystem) const {
    return filter_.IsWanted(level, subsystem);
  }

  /// Writes a line if it is wanted. `device` appears in brackets, if it is given.
  void Log(LogLevel level, Subsystem subsystem, std::optional<std::uint32_t> device,
           std::string_view text, const char* file = __builtin_FILE(), int line = __builtin_LINE());

  /// Logs a warning or a note of INIT once per text.
  void WarnOnce(const std::string& text) { LogOnce(LogLevel::kWarn, text); }
  void NoteOnce(const std::string& text) { LogOnce(LogLevel::kInfo, text); }

 private:
  void LogOnce(LogLevel level, const std::string& text);
  int Target() const;

  const LogFilter filter_;
  const std::string host_name_;
  const std::uint32_t pid_;
  const Instant start_;
  int standard_;  ///< descriptor 1 or 2, which the logger must not close
  Fd file_;       ///< valid if a file was opened
  std::mutex logged_mutex_;
  std::set<std::string> logged_;  ///< the texts that are not logged again
};

}  // namespace ringlet::os
