// Libraries of other people that were made for NCCL: how they are found by the value of a setting,
// such as NCCL_PROFILER_PLUGIN, and how they write to the log.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/plugin/nccl_abi.hpp"
#include "os/fs/log_sink.hpp"
#include "os/fs/shared_library.hpp"

namespace ringlet::comm {

/// A kind of plug-in, and the versions that are spoken here.
struct PluginKind {
  std::string_view file_prefix;       ///< "libnccl-profiler"
  std::string_view symbol_prefix;     ///< "ncclProfiler_v"
  std::span<const int> versions;      ///< the newest first
  std::span<const int> not_versions;  ///< those that NCCL knows beside them
};

/// The files that a value of the setting may mean, the first that is there is taken: as it is, and
/// where it is neither a path nor a library's name "PREFIX-VALUE.so". Empty: "none", in any case.
std::vector<std::string> PluginFiles(const PluginKind& kind, const std::string& value);

/// A plug-in in the process, for ever: it may have threads, and its memory is in use at exit.
struct LoadedPlugin {
  std::string file = {};
  int version = 0;
  const void* table = nullptr;  ///< its functions
};
/// Errors  kUnsupported  no such file, none that can be loaded, or none of the versions: names the
///                       file, and the versions that it has
Result<LoadedPlugin> LoadPlugin(const PluginKind& kind, const std::string& value);

/// The log function that plug-ins get. Their interface gives it no place for a context, so that the
/// process has one logger for all of them: the last that was set, until that is taken back.
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

}  // namespace ringlet::comm
