#include "frontends/cxx/process.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

namespace ringlet::cxx {
namespace {

using Processes = std::map<EnvMap, std::shared_ptr<comm::Process>>;

struct ProcessTable {
  std::mutex mutex;
  Processes processes;
  comm::ForkGuard fork_guard;
};

// Never destroyed: communicators may be used by threads that outlive main's statics.
ProcessTable& TheShared() {
  static ProcessTable& shared = *new ProcessTable;
  return shared;
}

}  // namespace

Result<std::shared_ptr<comm::Process>> ProcessWith(const EnvMap& overrides) {
  ProcessTable& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  if (!shared.fork_guard.IsHere()) {
    new Processes(std::move(shared.processes));  // their threads are the parent's: leave them be
    shared.processes.clear();
    shared.fork_guard = comm::ForkGuard();
  }
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
