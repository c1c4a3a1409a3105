#include "frontends/c_api/handles.hpp"

#include <unistd.h>

#include <map>
#include <mutex>

#include "frontends/c_api/red_op.hpp"

namespace ringlet::c_api {
namespace {

struct Entry {
  std::shared_ptr<comm::Communicator> communicator;
  std::shared_ptr<Forming> forming = {};  // of the communicator
  std::shared_ptr<Forming> child = {};    // the last that was made of it
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

// A communicator that has been formed meanwhile belongs to its entry; nothing while it is not.
std::optional<Status> Settle(Entry& entry) {
  if (!entry.forming) return Ok();
  const auto outcome = entry.forming->outcome();
  if (!outcome) return std::nullopt;
  if (!outcome->ok()) return outcome->error();
  entry.communicator = **outcome;
  entry.forming.reset();
  return Ok();
}

bool IsParentOfUnborn(const Entry& entry) {
  return entry.child && !entry.child->outcome();
}

Result<std::shared_ptr<comm::Communicator>> Ready(Entry& entry) {
  const std::optional<Status> settled = Settle(entry);
  if (!settled || IsParentOfUnborn(entry))
    return Error{Code::kInvalidArgument,
                 "the communicator is still busy with being formed or with forming another: call "
                 "again when ncclCommGetAsyncError says ncclSuccess, or ncclCommAbort"};
  RINGLET_TRY(*settled);
  return entry.communicator;
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

ncclComm_t ExportForming(std::shared_ptr<Forming> forming, ncclComm_t parent) {
  const ncclComm_t handle = Export(nullptr);
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.entries.find(parent);
  if (found != registry.entries.end()) found->second.child = forming;
  registry.entries.at(handle).forming = std::move(forming);
  return handle;
}

Result<std::shared_ptr<comm::Communicator>> Find(ncclComm_t handle) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto it = registry.entries.find(handle);
  if (it == registry.entries.end()) return Unknown(handle);
  return Ready(it->second);
}

Result<State> StateOf(ncclComm_t handle) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto it = registry.entries.find(handle);
  if (it == registry.entries.end()) return Unknown(handle);
  const std::optional<Status> settled = Settle(it->second);
  if (!settled || IsParentOfUnborn(it->second)) return State{.in_progress = true};
  if (!settled->ok()) return State{.failure = settled->error()};
  return State{.failure = it->second.communicator->failure()};
}

Result<std::shared_ptr<comm::Communicator>> FindActive(ncclComm_t handle) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto it = registry.entries.find(handle);
  if (it == registry.entries.end()) return Unknown(handle);
  if (it->second.finalized)
    return Error{Code::kUnsupported, "the communicator is finalized: it takes no more operations"};
  return Ready(it->second);
}

Status MarkFinalized(ncclComm_t handle) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto it = registry.entries.find(handle);
  if (it == registry.entries.end()) return Unknown(handle);
  RINGLET_TRY(Ready(it->second));
  if (std::exchange(it->second.finalized, true))
    return Error{Code::kInvalidArgument, "the communicator is finalized already"};
  return Ok();
}

Result<std::shared_ptr<comm::Communicator>> Take(ncclComm_t handle) {
  RINGLET_TRY_ASSIGN(const State state, StateOf(handle));
  if (state.in_progress) return Find(handle);  // which says so
  return TakeAborted(handle);
}

Result<std::shared_ptr<comm::Communicator>> TakeAborted(ncclComm_t handle) {
  Registry& registry = TheRegistry();
  std::unique_lock lock(registry.mutex);
  const auto it = registry.entries.find(handle);
  if (it == registry.entries.end()) return Unknown(handle);
  Entry entry = std::move(it->second);
  registry.entries.erase(it);
  lock.unlock();  // forming may have something to report, which needs the registry
  if (entry.forming) entry.forming->Stop();
  static_cast<void>(Settle(entry));
  if (entry.communicator) ForgetRedOps(*entry.communicator);
  return entry.communicator;
}

}  // namespace ringlet::c_api
