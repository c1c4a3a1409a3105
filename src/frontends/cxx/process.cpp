#include "frontends/cxx/process.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

namespace ringlet::cxx {
namespace {

using Processes = std::map<EnvMap, std::shared_ptr<comm::Process>>;

struct ProcessTable {
  explicit ProcessTable(const ProcessTable* /*parent*/) {}
  std::mutex mutex;
  Processes processes;
};

ProcessTable& TheShared() {
  static comm::PerProcess<ProcessTable> tables;
  return tables.Here();
}

}  // namespace

Result<std::shared_ptr<comm::Process>> ProcessWith(const EnvMap& overrides) {
  ProcessTable& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  if (const auto found = shared.processes.find(overrides); found != shared.processes.end())
    return found->second;
  if (shared.processes.size() >= kEnvironmentsMax)
    return Error{Code::kUnsupported,
                 fmt::format("this process uses {} different environments for communicators, the "
                             "most that it may: use one of them again",
                             kEnvironmentsMax)};
  RINGLET_TRY_ASSIGN(auto process, comm::Process::StartHere(overrides));
  shared.processes.emplace(overrides, process);
  return process;
}

}  // namespace ringlet::cxx
