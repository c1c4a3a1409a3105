#include "frontends/c_api/handles.hpp"

#include <unistd.h>

#include <map>
#include <mutex>

#include "frontends/c_api/red_op.hpp"

namespace ringlet::c_api {
namespace {

struct Entry {
  std::shared_ptr<comm::Communicator> communicator;
  bool finalized = false;
};

struct Registry {
  std::mutex mutex;
  std::map<ncclComm_t, Entry> entries;
  std::shared_ptr<comm::Process> process;
  pid_t pid = 0;
  std::uintptr_t last_handle = 0;
};

// A handle is a number that is never used twice, so that a destroyed one is always found out. It
// looks like a pointer because NCCL's type is one; nobody follows it.
constexpr std::uintptr_t kHandleStep = 16;

// Never destroyed: communicators may be used by threads that outlive main's statics.
Registry& TheRegistry() {
  static Registry& registry = *new Registry;
  return registry;
}

Error Unknown(ncclComm_t handle) {
  if (!handle) return Error{Code::kInvalidArgument, "the communicator is NULL"};
  return Error{
      Code::kInvalidArgument,
      "this is no communicator of this process: never created, or already destroyed or aborted"};
}

}  // namespace

Result<std::shared_ptr<comm::Process>> CurrentProcess() {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  if (registry.process && registry.pid != ::getpid()) {
    // A child of fork has copies of our objects but not the service thread: leave them be.
    new std::shared_ptr<comm::Process>(std::move(registry.process));
    new std::map<ncclComm_t, Entry>(std::move(registry.entries));
    registry.entries.clear();
  }
  if (!registry.process) {
    RINGLET_TRY_ASSIGN(registry.process, comm::Process::StartHere());
    registry.pid = ::getpid();
  }
  return registry.process;
}

ncclComm_t Export(std::shared_ptr<comm::Communicator> communicator) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto handle = reinterpret_cast<ncclComm_t>(registry.last_handle += kHandleStep);  // NOLINT
  registry.entries.emplace(handle, Entry{std::move(communicator)});
  return handle;
}

Result<std::shared_ptr<comm::Communicator>> Find(ncclComm_t handle) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto it = registry.entries.find(handle);
  if (it == registry.entries.end()) return Unknown(handle);
  return it->second.communicator;
}

Result<std::shared_ptr<comm::Communicator>> FindActive(ncclComm_t handle) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto it = registry.entries.find(handle);
  if (it == registry.entries.end()) return Unknown(handle);
  if (it->second.finalized)
    return Error{Code::kUnsupported, "the communicator is finalized: it takes no more operations"};
  return it->second.communicator;
}

Status MarkFinalized(ncclComm_t handle) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto it = registry.entries.find(handle);
  if (it == registry.entries.end()) return Unknown(handle);
  if (std::exchange(it->second.finalized, true))
    return Error{Code::kInvalidArgument, "the communicator is finalized already"};
  return Ok();
}

Result<std::shared_ptr<comm::Communicator>> Take(ncclComm_t handle) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto it = registry.entries.find(handle);
  if (it == registry.entries.end()) return Unknown(handle);
  std::shared_ptr<comm::Communicator> communicator = std::move(it->second.communicator);
  registry.entries.erase(it);
  ForgetRedOps(*communicator);
  return communicator;
}

}  // namespace ringlet::c_api
