#include "os/fs/log_sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/clock.hpp"

namespace ringlet::os {
namespace {

/// Calls write once, and again only if the system took a part.
void WriteWhole(int fd, std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = write(fd, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Logger::Logger(const Settings& settings, std::string_view host_name, std::uint32_t pid)
    : filter_(settings.log_filter()),
      host_name_(host_name),
      pid_(pid),
      start_(Now()),
      standard_(settings.debug_file == "/dev/stderr" ? STDERR_FILENO : STDOUT_FILENO) {
  const std::string& pattern = settings.debug_file;
  if (pattern.empty() || pattern == "/dev/stdout" || pattern == "/dev/stderr") return;
  if (filter_.level <= LogLevel::kVersion) return;
  const std::string path = ExpandLogPath(pattern, host_name_, pid_);
  file_ = Fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (file_.valid()) return;
  const int error = errno;
  Log(LogLevel::kWarn, Subsystem::kEnv, std::nullopt,
      fmt::format("cannot write the log to {}: {}; the log continues on standard output", path,
                  std::strerror(error)));
}

int Logger::Target() const {
  return file_.valid() ? file_.get() : standard_;
}

void Logger::Log(LogLevel level, Subsystem subsystem, std::optional<std::uint32_t> device,
                 std::string_view text, const char* file, int line) {
  if (!IsWanted(level, subsystem)) return;
  const std::string wall_time = level == LogLevel::kWarn ? WallTimeText() : "";
  WriteWhole(Target(), FormatLogLine({.level = level,
                                      .subsystem = subsystem,
                                      .host_name = host_name_,
                                      .pid = pid_,
                                      .tid = static_cast<std::uint32_t>(gettid()),
                                      .device = device,
                                      .text = text,
                                      .file = file,
                                      .line = line,
                                      .wall_time = wall_time,
                                      .since_start = Now() - start_}));
}

void Logger::LogOnce(LogLevel level, const std::string& text) {
  const std::lock_guard lock(logged_mutex_);
  if (logged_.insert(text).second) Log(level, Subsystem::kInit, std::nullopt, text);
}

}  // namespace ringlet::os
