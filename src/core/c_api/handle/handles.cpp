#include "c_api/handle/handles.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "c_api/handle/guard.hpp"
#include "c_api/handle/red_op.hpp"
#include "comm/process/process_of_program.hpp"
#include "comm/service/fork_guard.hpp"
#include "os/process/per_thread.hpp"
#include "stream/host_task.hpp"

namespace ringlet::c_api {
namespace {

struct HandleEntry {
  std::shared_ptr<comm::Communicator> communicator = {};
  std::shared_ptr<Forming> forming = {};  // not null while the communicator is forming
  std::shared_ptr<Forming> child = {};    // the latest communicator formed from this one
  std::shared_ptr<Running> running = {};  // the latest non-blocking operation
  std::shared_ptr<Issued> issued = {};    // operations on streams; shared with them; null: none yet
  CommOptions options = {};
  bool finalized = false;
  bool rests = false;
  bool freed = false;                      // working memory, while suspended
  std::optional<UniqueId> growth_id = {};  // unused so far
};

/// The entry of one handle. Its own lock keeps threads with different communicators independent.
struct HandleSlot {
  std::mutex mutex;
  HandleEntry entry = {};
  bool gone = false;  // destroyed or aborted
  /// Counts the times that a thread took the lock to use the entry. While it does not change, the
  /// entry does not change either.
  std::atomic<std::uint64_t> uses{0};

  std::unique_lock<std::mutex> Lock() {
    std::unique_lock lock(mutex);
    uses.store(uses.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return lock;
  }
};

/// The handles of one process. A child of fork() finds none of its parent's handles: it has copies
/// of these objects, but not the threads that serve them.
struct Registry {
  explicit Registry(const Registry* parent)
      : first_handle(parent ? parent->last_handle.load() : 0),
        last_handle(first_handle),
        overrides(parent ? parent->overrides.load() : nullptr) {}

  const std::uintptr_t first_handle;  // this and lower handles belong to a parent
  std::mutex mutex;                   // guards all non-atomic members
  std::map<ncclComm_t, std::shared_ptr<HandleSlot>> slots;
  std::deque<EnvMap> given_overrides;  // the last element applies; a child may read any
  bool in_use = false;                 // the process is in use: its settings are fixed
  std::atomic<std::uintptr_t> last_handle;
  std::atomic<const EnvMap*> overrides;  // null: no overrides

  EnvMap Overrides() const {
    const EnvMap* const present = overrides.load();
    return present ? *present : EnvMap{};
  }
};

// A handle is a number that is never reused, so a destroyed handle is always detected. It has
// NCCL's pointer type but is never dereferenced.
constexpr std::uintptr_t kHandleStep = 16;

Registry& TheRegistry() {
  static comm::PerProcess<Registry> registries;
  return registries.Here();
}

std::shared_ptr<HandleSlot> LookUp(Registry& registry, ncclComm_t handle) {
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.slots.find(handle);
  return found == registry.slots.end() ? nullptr : found->second;
}

/// A slot that a thread has used.
struct LastSlot {
  comm::ForkGuard fork_guard = {};
  ncclComm_t handle = nullptr;
  std::shared_ptr<HandleSlot> slot = {};
  /// The communicator of the slot. While `slot->uses` equals `uses`, it takes operations, and this
  /// thread finds it without a lock.
  std::weak_ptr<comm::Communicator> active = {};
  std::uint64_t uses = 0;
  CommOptions options = {};

  bool Holds(ncclComm_t wanted) const { return handle == wanted && slot && fork_guard.IsHere(); }
};

/// The slots that a thread used last. Repeated use of a few communicators takes no global lock.
class LastSlots {
 public:
  /// Returns the place for the slot of this handle. Several handles have the same place.
  LastSlot& PlaceOf(ncclComm_t handle) {
    return slots_[reinterpret_cast<std::uintptr_t>(handle) / kHandleStep % slots_.size()];
  }

 private:
  std::array<LastSlot, 8> slots_;
};
os::PerThread<LastSlots> last_slots;

/// Null: the process never created the handle, or it is destroyed. Valid until this thread looks up
/// another handle. Handles are never reused, so a cached slot stays valid.
HandleSlot* SlotOf(ncclComm_t handle) {
  LastSlot& last = last_slots.Get().PlaceOf(handle);
  if (last.Holds(handle)) [[likely]]
    return last.slot.get();
  last = {.handle = handle, .slot = LookUp(TheRegistry(), handle)};
  return last.slot.get();
}

Error Unknown(ncclComm_t handle) {
  if (!handle) return Error{Code::kInvalidArgument, "the communicator is NULL"};
  if (reinterpret_cast<std::uintptr_t>(handle) <= TheRegistry().first_handle)
    return Error{Code::kInvalidArgument,
                 "the communicator was made before fork(), and this process is the child: it "
                 "cannot use communicators of its parent; form one of its own here"};
  return Error{Code::kInvalidArgument,
               "this is not a communicator of this process: it was never created, or is already "
               "destroyed or aborted"};
}

// Moves a communicator that has finished forming into its entry; empty while it is forming.
std::optional<Status> Settle(HandleEntry& entry) {
  if (!entry.forming) return Ok();
  const auto outcome = entry.forming->outcome();
  if (!outcome) return std::nullopt;
  if (!outcome->ok()) return outcome->error();
  entry.communicator = **outcome;
  entry.forming->ReleaseCommunicator();  // its parent may hold it too
  entry.forming.reset();
  return Ok();
}

bool HasChildForming(const HandleEntry& entry) {
  return entry.child && !entry.child->outcome();
}

bool Runs(const HandleEntry& entry) {
  return entry.running && !entry.running->done();
}

Error Busy(const char* with) {
  return {Code::kInvalidArgument,
          fmt::format("the communicator is still busy with {}: call again when "
                      "ncclCommGetAsyncError returns ncclSuccess, or call ncclCommAbort",
                      with)};
}

// Succeeds once the entry's communicator is formed, whether or not an operation runs on it.
Status Formed(HandleEntry& entry) {
  const std::optional<Status> settled = Settle(entry);
  if (!settled) return Busy("being formed");
  if (HasChildForming(entry)) return Busy("forming another");
  return *settled;
}

Status Ready(HandleEntry& entry) {
  RINGLET_TRY(Formed(entry));
  if (Runs(entry)) return Busy("an operation");
  return Ok();
}

Status NotFinalized(const HandleEntry& entry) {
  if (!entry.finalized) return Ok();
  return Error{Code::kUnsupported, "the communicator is finalized: it takes no more operations"};
}

Status NotSuspended(const HandleEntry& entry) {
  if (!entry.rests) return Ok();
  return Error{Code::kUnsupported, "the communicator is suspended: ncclCommResume first"};
}

Status NotRevoked(const HandleEntry& entry) {
  if (!entry.communicator->revoked()) return Ok();
  return Error{Code::kUnsupported,
               "the communicator is revoked: it can be split, shrunk, destroyed and aborted only"};
}

// Lets streams continue after failed operations, because the owner has aborted the communicator.
void EndFailed(const std::shared_ptr<Issued>& issued) {
  if (!issued) return;
  issued->order()->TolerateFailures();
  issued->AwaitUnused();
}

// Afterwards only `entry` holds the communicator, so both end together.
void GiveUp(const HandleEntry& entry) {
  if (!entry.issued) return;
  entry.issued->Close();
  entry.issued->AwaitUnused();
}

// The error of an operation that did not complete. Ok for a revoked communicator, because the owner
// requested the abort. \pre  formed, and no operation runs
Status OutcomeOf(const HandleEntry& entry) {
  if (entry.communicator->revoked()) return Ok();
  if (entry.running && entry.running->failure()) return *entry.running->failure();
  if (!entry.issued) return Ok();
  if (const auto failed = entry.issued->failure()) return *failed;
  if (!entry.issued->pending()) return Ok();
  const auto failed = entry.communicator->failure();
  return failed ? Status(*failed) : Ok();
}

// True if this rank has finished all work on the communicator. Peers then continue without it until
// they make a call that needs this rank.
bool IsIdle(const HandleEntry& entry) {
  if (Runs(entry) || HasChildForming(entry)) return false;
  if (entry.issued && entry.issued->pending()) return false;
  return entry.communicator.use_count() == 1;  // else a thread is in a call
}

FormedCommunicator FormedCommunicatorOf(const HandleEntry& entry) {
  return {entry.communicator, entry.options, entry.issued != nullptr};
}

// Destroys the communicator if no other owner exists.
void ReleaseCommunicator(HandleEntry entry) {
  GiveUp(entry);
  ForgetRedOps(*entry.communicator);
}

// Calls `use` with the entry of a handle, under its lock. `use` does not access other handles.
template <typename Use>
auto WithEntry(ncclComm_t handle, Use use) -> decltype(use(std::declval<HandleEntry&>())) {
  HandleSlot* const slot = SlotOf(handle);
  if (!slot) return Unknown(handle);
  const auto lock = slot->Lock();
  if (slot->gone) return Unknown(handle);
  return use(slot->entry);
}

}  // namespace

namespace {

// If a program exits successfully without destroying its communicators, leaves them, so that peers
// at work on other communicators do not see a death. A nonzero exit status counts as a death. The
// handles stay valid, because other threads, such as PyTorch's watchdog, may query errors.
void LeaveAtExit(int exit_status, void* /*unused*/) {
  if (exit_status != 0) return;
  Registry& registry = TheRegistry();
  std::vector<std::shared_ptr<HandleSlot>> slots;
  {
    const std::lock_guard lock(registry.mutex);
    for (const auto& [handle, slot] : registry.slots) slots.push_back(slot);
  }
  for (const auto& slot : slots) {
    std::shared_ptr<comm::Communicator> left;
    {
      const auto lock = slot->Lock();
      if (slot->gone) continue;
      HandleEntry& entry = slot->entry;
      static_cast<void>(Settle(entry));
      if (!entry.communicator || !IsIdle(entry)) continue;
      entry.finalized = true;
      left = entry.communicator;
    }
    left->Leave();
  }
}

// Registers once per program: children of fork inherit the handler, and exec clears it.
void RegisterExitHandler() {
  static const int registered = ::on_exit(LeaveAtExit, nullptr);
  static_cast<void>(registered);
}

}  // namespace

// Holds the lock so that Override does not change the settings meanwhile.
Result<std::shared_ptr<comm::Process>> CurrentProcess() {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  RINGLET_TRY_ASSIGN(auto process, comm::ProcessOfProgram(registry.Overrides()));
  RegisterExitHandler();
  registry.in_use = true;
  return process;
}

Result<std::shared_ptr<comm::Process>> ProcessForSettings() {
  return comm::ProcessOfProgramForSettings(TheRegistry().Overrides());
}

Status Override(const EnvMap& settings) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const EnvMap present = registry.Overrides();
  EnvMap overrides = present;
  for (const auto& [name, value] : settings) overrides.insert_or_assign(name, value);
  if (overrides == present) return Ok();
  if (registry.in_use)
    return Error{Code::kUnsupported,
                 "this process already has unique ids, communicators or memory: call this function "
                 "before it creates the first of them"};
  registry.overrides = &registry.given_overrides.emplace_back(std::move(overrides));
  comm::EndIfUnused(present);
  return Ok();
}

bool IsEncryptionWanted() {
  const EnvMap overrides = TheRegistry().Overrides();
  const auto set = overrides.find("RINGLET_ENCRYPT");
  return set != overrides.end() && set->second == "1";
}

ncclComm_t Export(std::shared_ptr<comm::Communicator> communicator, const CommOptions& options) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto handle = reinterpret_cast<ncclComm_t>(registry.last_handle += kHandleStep);  // NOLINT
  auto slot = std::make_shared<HandleSlot>();
  slot->entry = {.communicator = std::move(communicator), .options = options};
  registry.slots.emplace(handle, std::move(slot));
  return handle;
}

ncclComm_t ExportForming(std::shared_ptr<Forming> forming, const CommOptions& options) {
  const ncclComm_t handle = Export(nullptr, options);
  static_cast<void>(WithEntry(handle, [&](HandleEntry& entry) -> Status {
    entry.forming = std::move(forming);
    return Ok();
  }));
  return handle;
}

void Occupy(ncclComm_t parent, std::shared_ptr<Forming> forming) {
  static_cast<void>(WithEntry(parent, [&](HandleEntry& entry) -> Status {
    entry.child = std::move(forming);
    return Ok();
  }));
}

Status Begin(std::span<const ncclComm_t> handles, const std::shared_ptr<Running>& running) {
  Registry& registry = TheRegistry();
  std::map<ncclComm_t, std::shared_ptr<HandleSlot>>
      slots;  // in lock order, the same for all threads
  for (const ncclComm_t handle : handles) slots.emplace(handle, LookUp(registry, handle));
  std::vector<std::unique_lock<std::mutex>> locks;
  for (const auto& [handle, slot] : slots) {
    if (!slot) return Unknown(handle);
    locks.push_back(slot->Lock());
    if (slot->gone) return Unknown(handle);
    RINGLET_TRY(Ready(slot->entry));
  }
  // Starts under the locks, so that a thread that aborts a handle finds the operation.
  RINGLET_TRY(running->Start(
      [](const Error& error) { Report("an operation that does not block", error); }));
  for (const auto& [handle, slot] : slots) slot->entry.running = running;
  return Ok();
}

Result<std::shared_ptr<comm::Communicator>> Find(ncclComm_t handle) {
  return WithEntry(handle, [](HandleEntry& entry) -> Result<std::shared_ptr<comm::Communicator>> {
    RINGLET_TRY(Ready(entry));
    return entry.communicator;
  });
}

Result<FormedCommunicator> FindParent(ncclComm_t handle) {
  return WithEntry(handle, [](HandleEntry& entry) -> Result<FormedCommunicator> {
    RINGLET_TRY(NotFinalized(entry));
    RINGLET_TRY(NotSuspended(entry));
    RINGLET_TRY(Ready(entry));
    return FormedCommunicatorOf(entry);
  });
}

namespace {

/// Returns true if no member of the entry keeps the communicator from operations.
bool IsUntouched(const HandleEntry& entry) {
  return !entry.forming && !entry.child && !entry.running && !entry.finalized && !entry.rests;
}

Status Active(HandleEntry& entry) {
  if (IsUntouched(entry) && !entry.communicator->revoked()) [[likely]]
    return Ok();
  RINGLET_TRY(NotFinalized(entry));
  RINGLET_TRY(NotSuspended(entry));
  RINGLET_TRY(Ready(entry));
  return NotRevoked(entry);
}

}  // namespace

Status FindActive(ncclComm_t handle, FormedCommunicator& found) {
  LastSlots* const slots = last_slots.Find();
  LastSlot* const last = slots ? &slots->PlaceOf(handle) : nullptr;
  if (last && last->Holds(handle) && last->uses == last->slot->uses.load(std::memory_order_acquire))
      [[likely]] {
    found.communicator = last->active.lock();
    if (found.communicator && !found.communicator->revoked()) [[likely]] {
      found.options = last->options;
      found.has_issued = false;
      return Ok();
    }
  }
  return WithEntry(handle, [&](HandleEntry& entry) -> Status {
    RINGLET_TRY(Active(entry));
    found = FormedCommunicatorOf(entry);
    if (!IsUntouched(entry) || entry.issued) return Ok();
    LastSlot& used = last_slots.Get().PlaceOf(handle);
    used.active = entry.communicator;
    used.uses = used.slot->uses.load(std::memory_order_relaxed);
    used.options = entry.options;
    return Ok();
  });
}

Result<FormedCommunicator> FindActive(ncclComm_t handle) {
  FormedCommunicator found;
  RINGLET_TRY(FindActive(handle, found));
  return found;
}

Result<FormedCommunicator> FindRunning(ncclComm_t handle) {
  return WithEntry(handle, [](HandleEntry& entry) -> Result<FormedCommunicator> {
    RINGLET_TRY(NotFinalized(entry));
    RINGLET_TRY(Formed(entry));
    return FormedCommunicatorOf(entry);
  });
}

void AwaitIdle(ncclComm_t handle) {
  std::shared_ptr<Running> running;
  std::shared_ptr<Issued> issued;
  static_cast<void>(WithEntry(handle, [&](HandleEntry& entry) -> Status {
    running = entry.running;
    issued = entry.issued;
    return Ok();
  }));
  if (running) running->Wait();
  EndFailed(issued);
}

Result<std::shared_ptr<Issued>> IssuedOf(ncclComm_t handle) {
  return WithEntry(handle, [](HandleEntry& entry) -> Result<std::shared_ptr<Issued>> {
    if (!entry.issued) entry.issued = std::make_shared<Issued>();
    return entry.issued;
  });
}

std::shared_ptr<Issued> FindIssued(ncclComm_t handle) {
  std::shared_ptr<Issued> issued;
  static_cast<void>(WithEntry(handle, [&](HandleEntry& entry) -> Status {
    issued = entry.issued;
    return Ok();
  }));
  return issued;
}

Status AwaitIssued(ncclComm_t handle) {
  std::shared_ptr<comm::Communicator> communicator;
  std::shared_ptr<Issued> issued;
  static_cast<void>(WithEntry(handle, [&](HandleEntry& entry) -> Status {
    communicator = entry.communicator;
    issued = entry.issued;
    return Ok();
  }));
  if (!issued || !issued->pending()) return Ok();
  if (stream::IsInsideItem())
    return Error{Code::kUnsupported,
                 "a host function of a stream may not wait for operations on streams: the "
                 "communicator has some that have not ended"};
  if (communicator && communicator->failure()) {
    issued->AwaitUnused();
  } else {
    issued->Await();
  }
  return Ok();
}

Result<CommunicatorState> StateOf(ncclComm_t handle) {
  return WithEntry(handle, [](HandleEntry& entry) -> Result<CommunicatorState> {
    const std::optional<Status> settled = Settle(entry);
    if (!settled || HasChildForming(entry) || Runs(entry))
      return CommunicatorState{.in_progress = true};
    if (!settled->ok()) return CommunicatorState{.failure = settled->error()};
    if (entry.finalized && entry.issued && entry.issued->pending())
      return CommunicatorState{.in_progress = true};
    if (entry.communicator->revoked()) return CommunicatorState{};
    CommunicatorState state{.failure = entry.communicator->failure()};
    if (!state.failure && entry.running) state.failure = entry.running->failure();
    return state;
  });
}

Result<bool> MarkFinalized(ncclComm_t handle) {
  bool blocking = true;
  const Status marked = WithEntry(handle, [&](HandleEntry& entry) -> Status {
    RINGLET_TRY(Ready(entry));
    RINGLET_TRY(NotRevoked(entry));
    if (std::exchange(entry.finalized, true))
      return Error{Code::kInvalidArgument, "the communicator is finalized already"};
    blocking = entry.options.blocking;
    return Ok();
  });
  if (!marked.ok()) return marked.error();
  const std::shared_ptr<Issued> issued = FindIssued(handle);
  if (!blocking && issued && issued->pending()) return true;
  RINGLET_TRY(AwaitIssued(handle));
  return WithEntry(handle, [](HandleEntry& entry) -> Result<bool> {
    RINGLET_TRY(OutcomeOf(entry));
    return false;
  });
}

Status MarkSuspended(ncclComm_t handle, bool frees) {
  return WithEntry(handle, [&](HandleEntry& entry) -> Status {
    RINGLET_TRY(Active(entry));
    if (const auto failed = entry.communicator->failure()) return *failed;
    if (frees) RINGLET_TRY(entry.communicator->FreeWorkingMemory());
    entry.rests = true;
    entry.freed = frees;
    return Ok();
  });
}

Status MarkResumed(ncclComm_t handle) {
  return WithEntry(handle, [](HandleEntry& entry) -> Status {
    RINGLET_TRY(NotFinalized(entry));
    RINGLET_TRY(Ready(entry));
    RINGLET_TRY(NotRevoked(entry));
    if (!std::exchange(entry.rests, false))
      return Error{Code::kUnsupported, "the communicator is not suspended"};
    entry.freed = false;
    return Ok();
  });
}

Result<bool> IsFreed(ncclComm_t handle) {
  return WithEntry(handle, [](HandleEntry& entry) -> Result<bool> {
    RINGLET_TRY(Ready(entry));
    return entry.freed;
  });
}

Result<UniqueId> TakeGrowthId(ncclComm_t handle,
                              const std::function<Result<UniqueId>(comm::Communicator&)>& make) {
  RINGLET_TRY_ASSIGN(const FormedCommunicator held, FindActive(handle));
  return WithEntry(handle, [&](HandleEntry& entry) -> Result<UniqueId> {
    if (const auto failed = entry.communicator->failure()) return *failed;
    if (entry.growth_id)
      return Error{Code::kUnsupported,
                   "ncclCommGrow has not used the last id of this communicator yet"};
    RINGLET_TRY_ASSIGN(entry.growth_id, make(*held.communicator));
    return *entry.growth_id;
  });
}

std::optional<UniqueId> UseGrowthId(ncclComm_t handle) {
  std::optional<UniqueId> id;
  static_cast<void>(WithEntry(handle, [&](HandleEntry& entry) -> Status {
    id = std::exchange(entry.growth_id, std::nullopt);
    return Ok();
  }));
  return id;
}

namespace {

// Finds and removes a handle's entry.
Result<HandleEntry> Withdraw(ncclComm_t handle, bool at_any_time) {
  Registry& registry = TheRegistry();
  const std::shared_ptr<HandleSlot> slot = LookUp(registry, handle);
  if (!slot) return Unknown(handle);
  HandleEntry entry;
  {
    const auto lock = slot->Lock();
    if (slot->gone) return Unknown(handle);
    // A communicator that failed to form can be destroyed too.
    const bool formed = !slot->entry.forming || slot->entry.forming->outcome().has_value();
    if (!at_any_time && !formed) return Busy("being formed");
    if (!at_any_time && HasChildForming(slot->entry)) return Busy("forming another");
    if (!at_any_time && Runs(slot->entry)) return Busy("an operation");
    slot->gone = true;
    entry = std::exchange(slot->entry, HandleEntry{});
  }
  const std::lock_guard lock(registry.mutex);
  registry.slots.erase(handle);
  return entry;
}

}  // namespace

Status Take(ncclComm_t handle) {
  RINGLET_TRY(AwaitIssued(handle));
  RINGLET_TRY_ASSIGN(HandleEntry entry, Withdraw(handle, false));
  static_cast<void>(Settle(entry));
  if (!entry.communicator) return Ok();
  Status outcome = OutcomeOf(entry);
  ReleaseCommunicator(std::move(entry));
  return outcome;
}

Status TakeAborted(ncclComm_t handle, const std::string& why) {
  // Without the lock: a stopped operation may report an error, which needs the registry.
  RINGLET_TRY_ASSIGN(HandleEntry entry, Withdraw(handle, true));
  if (entry.forming) entry.forming->Stop();
  static_cast<void>(Settle(entry));
  if (!entry.communicator) return Ok();
  if (!IsIdle(entry)) entry.communicator->Abort(why);
  if (entry.running) entry.running->Wait();
  if (entry.issued) entry.issued->order()->TolerateFailures();
  ReleaseCommunicator(std::move(entry));
  return Ok();
}

}  // namespace ringlet::c_api
