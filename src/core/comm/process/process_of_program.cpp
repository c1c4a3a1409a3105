#include "comm/process/process_of_program.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "comm/service/fork_guard.hpp"

namespace ringlet::comm {
namespace {

struct ProcessTable {
  explicit ProcessTable(const ProcessTable* /*parent*/) {}
  struct OfEnvironment {
    std::shared_ptr<Process> process;
    bool used = false;  // ids and communicators may depend on it
  };
  std::mutex mutex;
  std::map<EnvMap, OfEnvironment> processes;
};

ProcessTable& TheTable() {
  static PerProcess<ProcessTable> tables;
  return tables.Here();
}

Result<std::shared_ptr<Process>> FindOrMake(const EnvMap& overrides, bool uses) {
  ProcessTable& table = TheTable();
  const std::lock_guard lock(table.mutex);
  if (const auto found = table.processes.find(overrides); found != table.processes.end()) {
    found->second.used = found->second.used || uses;
    return found->second.process;
  }
  if (table.processes.size() >= kEnvironmentsMax)
    return Error{Code::kUnsupported,
                 fmt::format("this process uses {} different environments for communicators, which "
                             "is the maximum: reuse one of them",
                             kEnvironmentsMax)};
  RINGLET_TRY_ASSIGN(auto process, Process::StartHere(overrides));
  table.processes.emplace(overrides, ProcessTable::OfEnvironment{process, uses});
  return process;
}

}  // namespace

Result<std::shared_ptr<Process>> ProcessOfProgram(const EnvMap& overrides) {
  return FindOrMake(overrides, true);
}

Result<std::shared_ptr<Process>> ProcessOfProgramForSettings(const EnvMap& overrides) {
  return FindOrMake(overrides, false);
}

void EndIfUnused(const EnvMap& overrides) {
  std::shared_ptr<Process> ended;  // destroyed outside the lock: its end waits for its threads
  ProcessTable& table = TheTable();
  const std::lock_guard lock(table.mutex);
  const auto found = table.processes.find(overrides);
  if (found == table.processes.end() || found->second.used) return;
  ended = std::move(found->second.process);
  table.processes.erase(found);
}

}  // namespace ringlet::comm
