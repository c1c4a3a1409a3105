// External libraries that were made for NCCL. Finds them by the value of a setting, such as
// NCCL_PROFILER_PLUGIN, and connects them to the log.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/plugin/nccl_abi.hpp"
#include "os/fs/log_sink.hpp"
#include "os/fs/shared_library.hpp"

namespace ringlet::comm {

/// A kind of plug-in, and its supported versions.
struct PluginKind {
  std::string_view file_prefix;       ///< "libnccl-profiler"
  std::string_view symbol_prefix;     ///< "ncclProfiler_v"
  std::span<const int> versions;      ///< the newest first
  std::span<const int> not_versions;  ///< NCCL's other versions
};

/// Returns the files that a value of the setting may mean, in order of preference: the value, and,
/// if it is neither a path nor a library's name, "PREFIX-VALUE.so". Empty for "none", in any case.
std::vector<std::string> PluginFiles(const PluginKind& kind, const std::string& value);

/// A plug-in. It is never unloaded: it may have threads, and its memory is in use at exit.
struct LoadedPlugin {
  std::string file = {};
  int version = 0;
  const void* table = nullptr;  ///< its functions
};
/// Errors  kUnsupported  no file exists, can be loaded or has one of the versions: names the file,
///                       and the versions that it has
Result<LoadedPlugin> LoadPlugin(const PluginKind& kind, const std::string& value);

/// Returns the log function for plug-ins. Their interface lacks a context, so the process has one
/// logger for all of them: the latest PluginLogTarget's, while it lives.
nccl_abi::LogFunction PluginLog();
/// While it lives, plug-ins write to `logger`.
class PluginLogTarget {
 public:
  explicit PluginLogTarget(os::Logger& logger);
  ~PluginLogTarget();
  PluginLogTarget(const PluginLogTarget&) = delete;
  PluginLogTarget& operator=(const PluginLogTarget&) = delete;

 private:
  os::Logger& logger_;
};

/// A plug-in that a process loads at the first call of Get. Any thread.
template <typename PlugIn>
class LoadedOnce {
 public:
  /// Returns null if `value` names no plug-in or none loads. A failure is only a warning, because
  /// ranks work without a plug-in. \param name, value  of the setting
  PlugIn* Get(const std::string& name, const std::string& value, os::Logger& logger) {
    if (PluginFiles({}, value).empty()) return nullptr;
    std::call_once(once_, [&] {
      auto loaded = PlugIn::Load(value, logger);
      if (!loaded.ok()) return logger.WarnOnce(name + ": " + loaded.error().message);
      loaded_ = *std::move(loaded);
    });
    return loaded_.get();
  }

 private:
  std::once_flag once_;
  std::unique_ptr<PlugIn> loaded_;
};

}  // namespace ringlet::comm
