#include "comm/plugin/plugin_library.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "base/value/text.hpp"

namespace ringlet::comm {
namespace {

constexpr std::size_t kShownBytesMax = 256;
constexpr std::size_t kLineBytesMax = 2048;

struct LogPlace {
  std::mutex mutex;
  os::Logger* logger = nullptr;
};

LogPlace& TheLogPlace() {
  static auto* const target = new LogPlace;  // never freed: threads of plug-ins may write at exit
  return *target;
}

LogLevel LevelOf(int level) {
  switch (level) {
    case 1: return LogLevel::kVersion;
    case 2: return LogLevel::kWarn;
    case 4: return LogLevel::kAbort;
    case 5: return LogLevel::kTrace;
    default: return LogLevel::kInfo;
  }
}

/// Returns the lowest bit. Plug-ins without flags log their start.
Subsystem SubsystemOf(unsigned long flags) {
  const unsigned long known = flags & 0x3ffff;
  return static_cast<Subsystem>(known == 0 ? 1 : known & (~known + 1));
}

__attribute__((format(printf, 5, 6))) void WriteForPlugin(int level, unsigned long flags,
                                                          const char* file, int line,
                                                          const char* format, ...) {
  if (format == nullptr || level <= 0) return;
  std::array<char, kLineBytesMax> text{};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  LogPlace& target = TheLogPlace();
  const std::lock_guard lock(target.mutex);
  if (target.logger == nullptr) return;
  target.logger->Log(LevelOf(level), SubsystemOf(flags), std::nullopt,
                     Printable(text.data(), kLineBytesMax), file == nullptr ? "plug-in" : file,
                     line);
}

std::string SymbolOf(const PluginKind& kind, int version) {
  return fmt::format("{}{}", kind.symbol_prefix, version);
}

Error MissingFunctionsError(const PluginKind& kind, const std::string& file,
                            const os::SharedLibrary& library) {
  const auto names = [&](std::span<const int> versions, bool only_present) {
    std::string list;
    for (const int version : versions) {
      const std::string symbol = SymbolOf(kind, version);
      if (only_present && library.Find<const char>(symbol.c_str()) == nullptr) continue;
      list += (list.empty() ? "" : ", ") + symbol;
    }
    return list;
  };
  const std::string has = names(kind.not_versions, true);
  return {Code::kUnsupported,
          fmt::format("{} has {}, and Ringlet supports {} only", Printable(file, kShownBytesMax),
                      has.empty() ? "no such plug-in" : has, names(kind.versions, false))};
}

}  // namespace

std::vector<std::string> PluginFiles(const PluginKind& kind, const std::string& value) {
  if (value.empty() || EqualIgnoringCase(value, "none")) return {};
  std::vector<std::string> files = {value};
  const bool is_library = value.starts_with("lib") && value.ends_with(".so");
  if (value.find('/') == std::string::npos && !is_library)
    files.push_back(fmt::format("{}-{}.so", kind.file_prefix, value));
  return files;
}

Result<LoadedPlugin> LoadPlugin(const PluginKind& kind, const std::string& value) {
  std::string refusals;
  for (const std::string& file : PluginFiles(kind, value)) {
    const auto library = os::SharedLibrary::Open(file, os::SharedLibrary::Unloading::kForEver);
    if (!library.ok()) {
      refusals += (refusals.empty() ? "" : "; ") + library.error().message;
      continue;
    }
    for (const int version : kind.versions)
      if (const void* table = library->Find<const char>(SymbolOf(kind, version).c_str()))
        return LoadedPlugin{.file = file, .version = version, .table = table};
    return MissingFunctionsError(kind, file, *library);
  }
  return Error{Code::kUnsupported, refusals};
}

nccl_abi::LogFunction PluginLog() {
  return &WriteForPlugin;
}

PluginLogTarget::PluginLogTarget(os::Logger& logger) : logger_(logger) {
  const std::lock_guard lock(TheLogPlace().mutex);
  TheLogPlace().logger = &logger;
}

PluginLogTarget::~PluginLogTarget() {
  const std::lock_guard lock(TheLogPlace().mutex);
  if (TheLogPlace().logger == &logger_) TheLogPlace().logger = nullptr;
}

}  // namespace ringlet::comm
