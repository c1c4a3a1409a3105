#include "base/log/log.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <utility>

#include "base/value/text.hpp"

namespace ringlet {
namespace {

constexpr std::array<std::string_view, 6> kLevelNames = {"NONE", "VERSION", "WARN",
                                                         "INFO", "ABORT",   "TRACE"};

// In the order of the bits: INIT is bit 0.
constexpr std::array<std::string_view, 18> kSubsystemNames = {
    "INIT", "COLL",  "P2P",  "SHM",       "NET", "GRAPH",   "TUNING", "ENV",     "ALLOC",
    "CALL", "PROXY", "NVLS", "BOOTSTRAP", "REG", "PROFILE", "RAS",    "DESTROY", "ALLOC_HOST"};

constexpr std::uint32_t kAllSubsystems = ~std::uint32_t{0};

constexpr std::size_t kHostNameBytesMax = 255;  // HOST_NAME_MAX of POSIX, with room to spare
constexpr std::size_t kFileBytesMax = 128;

std::optional<std::uint32_t> BitsNamed(std::string_view name) {
  if (EqualIgnoringCase(name, "ALL")) return kAllSubsystems;
  for (std::size_t bit = 0; bit < kSubsystemNames.size(); ++bit)
    if (EqualIgnoringCase(name, kSubsystemNames[bit])) return std::uint32_t{1} << bit;
  return std::nullopt;
}

std::string NamesOf(std::uint32_t bits) {
  std::string text;
  for (std::size_t bit = 0; bit < kSubsystemNames.size(); ++bit) {
    if ((bits >> bit & 1u) == 0) continue;
    if (!text.empty()) text += ',';
    text += kSubsystemNames[bit];
  }
  return text;
}

std::string Prefix(const LogLine& line) {
  std::string prefix = fmt::format(
      "{}:{}:{}", Printable(ShortHostName(line.host_name), kHostNameBytesMax), line.pid, line.tid);
  const bool call = line.level == LogLevel::kTrace && line.subsystem == Subsystem::kCall;
  if (line.device && !call) prefix += fmt::format(" [{}]", *line.device);
  return prefix;
}

std::string Place(const LogLine& line) {
  const std::size_t slash = line.file.rfind('/');
  const std::string_view base =
      slash == std::string_view::npos ? line.file : line.file.substr(slash + 1);
  return fmt::format("{}:{}", Printable(base, kFileBytesMax), line.line);
}

}  // namespace

std::string_view Name(LogLevel level) {
  return kLevelNames[static_cast<std::size_t>(level)];
}

std::string_view Name(Subsystem subsystem) {
  const auto bit = std::countr_zero(static_cast<std::uint32_t>(subsystem));
  return kSubsystemNames.at(static_cast<std::size_t>(bit));
}

Result<SubsystemMask> ParseSubsystems(std::string_view text) {
  const bool inverted = text.starts_with('^');
  std::uint32_t bits = 0;
  for (const std::string_view name : Split(inverted ? text.substr(1) : text, ',')) {
    const std::optional<std::uint32_t> named = BitsNamed(Trim(name));
    if (!named) {
      return Error{Code::kInvalidArgument,
                   fmt::format("\"{}\" is not a log subsystem; known are {},ALL",
                               Printable(name, 80), NamesOf(kAllSubsystems))};
    }
    bits |= *named;
  }
  return SubsystemMask{inverted ? ~bits : bits};
}

std::string ToString(SubsystemMask mask) {
  if (mask.bits == kAllSubsystems) return "ALL";
  if (mask.bits == 0) return "^ALL";
  const bool inverted = mask.bits >> kSubsystemNames.size() != 0;
  return inverted ? "^" + NamesOf(~mask.bits) : NamesOf(mask.bits);
}

bool LogFilter::IsWanted(LogLevel of_line, Subsystem subsystem) const {
  if (of_line == LogLevel::kNone || of_line > level) return false;
  return of_line <= LogLevel::kWarn || subsystems.Has(subsystem);
}

std::string_view ShortHostName(std::string_view host_name) {
  return host_name.substr(0, host_name.find('.'));
}

std::string ExpandLogPath(std::string_view pattern, std::string_view host_name, std::uint32_t pid) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'h') {
      path += ShortHostName(host_name);
    } else if (next == 'p') {
      path += fmt::format("{}", pid);
    } else if (next == '%') {
      path += '%';
    } else {
      path += pattern[i];
      continue;
    }
    ++i;
  }
  return path;
}

std::string FormatLogLine(const LogLine& line) {
  const std::string text = Printable(line.text, kLogTextBytesMax);
  switch (line.level) {
    case LogLevel::kVersion: return text + "\n";
    case LogLevel::kWarn:
      return fmt::format("\n[{}] {} {} RINGLET WARN {}\n", line.wall_time, Prefix(line),
                         Place(line), text);
    case LogLevel::kTrace:
      if (line.subsystem == Subsystem::kCall)
        return fmt::format("{} RINGLET CALL {}\n", Prefix(line), text);
      return fmt::format("{} {:.6f} {} RINGLET TRACE {}\n", Prefix(line),
                         std::chrono::duration<double, std::milli>(line.since_start).count(),
                         Place(line), text);
    case LogLevel::kNone:
    case LogLevel::kInfo:
    case LogLevel::kAbort: break;
  }
  return fmt::format("{} RINGLET {} {}\n", Prefix(line), Name(line.level), text);
}

}  // namespace ringlet
