// NCCL's tuner plug-ins. A process loads one, and it chooses the algorithm of each collective.
//
// A plug-in receives the cost of each algorithm and may change it. The cheapest algorithm runs.
// Each rank calls the plug-in by itself. All must receive the same choice, which is part of the
// call that ranks compare.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "collective/call/call.hpp"
#include "comm/plugin/plugin_library.hpp"
#include "plan/tuning/tuning.hpp"

namespace ringlet::comm {

/// "TREE", "LL128", as NCCL's logs and profilers spell it. Static storage.
const char* NcclName(plan::NcclAlgorithm algorithm);
const char* NcclName(plan::Protocol protocol);

class TunerPlugin {
 public:
  /// \param value  of the setting, not empty \param logger  outlives this
  /// Errors  as LoadPlugin; kUnsupported  a function is null: names it
  static Result<std::unique_ptr<TunerPlugin>> Load(const std::string& value, os::Logger& logger);

  const std::string& name() const { return name_; }
  const nccl_abi::TunerTable& functions() const { return *functions_; }
  os::Logger& logger() { return logger_; }
  /// Logs the first violation of the interface. Violations do not matter otherwise.
  void NoteFault(const std::string& what);

 private:
  TunerPlugin(const LoadedPlugin& loaded, os::Logger& logger);

  const std::string name_;
  const nccl_abi::TunerTable* functions_;
  os::Logger& logger_;
  const PluginLogTarget log_target_;
  std::atomic<bool> noted_{false};
};

/// A plug-in's context of one communicator. One thread at a time.
class TunerSession {
 public:
  struct Identification {
    std::uint64_t name = 0;  ///< the public one
    std::uint32_t ranks = 1, nodes = 1;
    std::uint32_t node_ranks_min = 1, node_ranks_max = 1;
  };

  /// Returns null if the plug-in refuses the communicator, which is logged.
  /// \param constants  of the time model
  static std::unique_ptr<TunerSession> Begin(TunerPlugin& plugin, const Identification& facts,
                                             const plan::TuningConstants& constants);
  /// Ends the context in the plug-in.
  ~TunerSession();
  TunerSession(const TunerSession&) = delete;
  TunerSession& operator=(const TunerSession&) = delete;

  /// Returns the constants after the plug-in's changes.
  const plan::TuningConstants& constants() const { return constants_; }

  /// \param bytes  of the larger of what a rank sends and what it receives
  /// \param times  empty entries cannot run, and the plug-in's values for them are ignored
  /// \return  not given if the plug-in changed no cost, or failed
  collective::TunerChoice Ask(plan::Function function, std::size_t bytes,
                              const plan::TimeTable& times);

 private:
  TunerSession(TunerPlugin& plugin, void* context, const plan::TuningConstants& constants)
      : plugin_(plugin), context_(context), constants_(constants) {}
  collective::TunerChoice CheapestOf(const nccl_abi::CostTable& costs,
                                     const plan::TimeTable& times) const;

  TunerPlugin& plugin_;
  void* const context_;
  const plan::TuningConstants constants_;
};

}  // namespace ringlet::comm
