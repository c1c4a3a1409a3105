// The text of a log line and the decision to log it, as pure functions. os::Logger writes lines.
//
// Levels, subsystems and the format of lines are NCCL's, with RINGLET in place of NCCL, so that
// habits and scripts keep working:
//   host:pid:tid [device] RINGLET INFO text
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"

namespace ringlet {

/// The part of the library that logs. The bits are NCCL's.
enum class Subsystem : std::uint32_t {
  kInit = 0x1,
  kColl = 0x2,
  kP2p = 0x4,
  kShm = 0x8,
  kNet = 0x10,
  kGraph = 0x20,
  kTuning = 0x40,
  kEnv = 0x80,
  kAlloc = 0x100,
  kCall = 0x200,
  kProxy = 0x400,
  kNvls = 0x800,
  kBootstrap = 0x1000,
  kReg = 0x2000,
  kProfile = 0x4000,
  kRas = 0x8000,
  kDestroy = 0x10000,
  kAllocHost = 0x20000,
};

/// A set of subsystems. The default is NCCL's: INIT, BOOTSTRAP, ENV.
struct SubsystemMask {
  std::uint32_t bits = 0x1 | 0x1000 | 0x80;
  bool Has(Subsystem subsystem) const {
    return (bits & static_cast<std::uint32_t>(subsystem)) != 0;
  }
  bool operator==(const SubsystemMask&) const = default;
};

/// "NONE", "VERSION", "WARN", "INFO", "ABORT", "TRACE". Static storage.
std::string_view Name(LogLevel level);

/// "INIT", "COLL", ... Static storage.
std::string_view Name(Subsystem subsystem);

/// Parses a comma list of subsystem names or ALL, in any case; a leading '^' means all except
/// these.
/// Errors  kInvalidArgument  names the unknown word and the known ones.
Result<SubsystemMask> ParseSubsystems(std::string_view text);

/// The shortest text that ParseSubsystems parses to `mask`.
std::string ToString(SubsystemMask mask);

/// The meaning of RINGLET_DEBUG and RINGLET_DEBUG_SUBSYS.
struct LogFilter {
  LogLevel level = LogLevel::kNone;
  SubsystemMask subsystems;

  /// Returns true if a line is wanted. Warnings and the version ignore the subsystems.
  bool IsWanted(LogLevel of_line, Subsystem subsystem) const;
};

/// A host name in the format of log lines: cut at the first dot.
std::string_view ShortHostName(std::string_view host_name);

/// Expands a RINGLET_DEBUG_FILE: %h host name cut at the first dot, %p process id, %% percent.
/// Leaves other %x unchanged.
std::string ExpandLogPath(std::string_view pattern, std::string_view host_name, std::uint32_t pid);

/// The parts of one line.
struct LogLine {
  LogLevel level = LogLevel::kInfo;
  Subsystem subsystem = Subsystem::kInit;
  std::string_view host_name;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::optional<std::uint32_t> device = std::nullopt;  ///< written as [device]
  std::string_view text;
  std::string_view file = {};  ///< of the source; written without its folders
  int line = 0;
  std::string_view wall_time = {};          ///< "YYYY-mm-dd HH:MM:SS", for warnings
  std::chrono::nanoseconds since_start{0};  ///< for traces
};

/// Longest text of a line. With its prefix a line stays below 4096 bytes, which Linux writes to a
/// pipe in one piece.
inline constexpr std::size_t kLogTextBytesMax = 3072;

/// The whole line with its newline. A warning starts with an empty line, as in NCCL. Control
/// characters in `text` are escaped, so that no peer can forge a line.
std::string FormatLogLine(const LogLine& line);

}  // namespace ringlet
