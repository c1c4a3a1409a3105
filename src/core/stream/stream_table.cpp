#include "stream/stream_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "os/process/forks.hpp"
#include "os/process/per_thread.hpp"
#include "stream/current_device.hpp"

namespace ringlet::stream {
namespace {

// A handle is a number that is never reused, like those of communicators. The numbers begin above
// the special handles and above small numbers that a program may pass by mistake.
constexpr std::uintptr_t kFirstHandle = 0x10000;
constexpr std::uintptr_t kHandleStep = 16;

/// The table of a process. The child of a fork has a copy without workers and makes a new table.
struct TableOfProcess {
  explicit TableOfProcess(StreamTable* its_table) : table(its_table) {}
  StreamTable* const table;
  const std::uint64_t generation = os::ForkGeneration();
};
std::atomic<const TableOfProcess*> table_of_process{nullptr};

/// The per-thread streams of a thread. They end with the thread.
struct StreamsOfThread {
  StreamTable* table = nullptr;
  std::map<int, ringletStream_t> by_device = {};

  ~StreamsOfThread() {
    if (!table || table != &StreamTable::Here()) return;
    for (const auto& [device, handle] : by_device) table->Abandon(handle);
  }
};
os::PerThread<StreamsOfThread> streams_of_threads;

// Joins the ended threads before the program ends.
struct JoinThreadsAtExit {
  ~JoinThreadsAtExit() { StreamTable::Here().ReapLast(); }
};

}  // namespace

StreamTable::StreamTable(std::uintptr_t first_handle)
    : first_handle_(first_handle), last_handle_(first_handle) {}

StreamTable& StreamTable::Here() {
  const std::uint64_t generation = os::ForkGeneration();
  const TableOfProcess* current = table_of_process.load(std::memory_order_acquire);
  while (!current || current->generation != generation) {
    // Read without the lock, because a thread of the parent may have held it during the fork. The
    // child has only this thread, and it rejects the numbers that the parent issued meanwhile.
    const std::uintptr_t first = current ? current->table->last_handle_ : kFirstHandle;
    const auto* const made = new TableOfProcess(new StreamTable(first));
    if (table_of_process.compare_exchange_strong(current, made)) return *made->table;
    delete made->table;
    delete made;
  }
  return *current->table;
}

template <typename Handle>
Handle StreamTable::NextHandle() {
  last_handle_ += kHandleStep;
  return reinterpret_cast<Handle>(last_handle_);  // NOLINT: it is never followed
}
template ringletEvent_t StreamTable::NextHandle();
template ringletGraph_t StreamTable::NextHandle();
template ringletGraphNode_t StreamTable::NextHandle();
template ringletGraphExec_t StreamTable::NextHandle();

Answer StreamTable::Unknown(const void* handle, const char* what) const {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number > kFirstHandle && number <= first_handle_)
    return {ringletInvalidHandle,
            fmt::format("{:#x} was made before fork(): this process is the child, and cannot use "
                        "streams, events or graphs of its parent",
                        number)};
  const std::string_view cure =
      std::string_view(what) == "stream"
          ? "; it may be a stream of CUDA: pass NULL, or a stream of ringlet/stream.h"
          : "";
  return {ringletInvalidHandle,
          fmt::format(
              "{:#x} does not name any {} of this process: it was never created, or is destroyed{}",
              number, what, cure)};
}

StreamRef StreamTable::Add(ringletStream_t handle, int device) {
  static const JoinThreadsAtExit last_reap;
  auto stream = std::make_shared<StreamState>(handle, device);
  stream->id = ++last_id_;
  devices_[device].streams.push_back(stream);
  return stream;
}

StreamRef StreamTable::LegacyOf(int device) {
  DeviceStreams& its = devices_[device];
  if (its.legacy) return its.legacy;
  const auto handle = NextHandle<ringletStream_t>();
  const StreamRef stream = streams_[handle] = Add(handle, device);
  stream->legacy = true;
  return devices_[device].legacy = stream;
}

StreamRef StreamTable::PerThread(int device) {
  StreamsOfThread& mine = streams_of_threads.Get();
  if (mine.table != this) {
    mine.table = this;
    mine.by_device.clear();
  }
  ringletStream_t& handle = mine.by_device[device];
  const auto found = streams_.find(handle);
  if (found != streams_.end()) return found->second;
  handle = NextHandle<ringletStream_t>();
  return streams_[handle] = Add(handle, device);
}

StreamRef StreamTable::Find(ringletStream_t stream) {
  if (!stream || stream == ringletStreamLegacy) return LegacyOf(CurrentDevice());
  if (stream == ringletStreamPerThread) return PerThread(CurrentDevice());
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second;
}

ringletStream_t StreamTable::OnDevice(int device, ringletStream_t stream) {
  const Lock lock(mutex_);
  if (!stream || stream == ringletStreamLegacy) return LegacyOf(device)->handle;
  return stream == ringletStreamPerThread ? PerThread(device)->handle : stream;
}

Answer StreamTable::Enter(Lock& lock, ringletStream_t stream, StreamRef* found) {
  for (;;) {
    *found = Find(stream);
    if (!*found) return Unknown(stream, "stream");
    // A host function never waits here, because room may appear only after it ends.
    if ((*found)->worker.HasRoom() || IsInsideItem()) return {};
    lock.unlock();
    (*found)->worker.AwaitRoom();
    lock.lock();
  }
}

Answer StreamTable::Create(ringletStream_t* stream, int device, unsigned flags, int priority) {
  if (device < 0 || device >= RINGLET_STREAM_DEVICES_MAX)
    return {ringletInvalidArgument, fmt::format("device is {}, not between 0 and {}", device,
                                                RINGLET_STREAM_DEVICES_MAX - 1)};
  if ((flags & ~static_cast<unsigned>(ringletStreamNonBlocking)) != 0)
    return {ringletInvalidArgument,
            fmt::format("flags are {:#x}: the only flag is ringletStreamNonBlocking", flags)};
  Reap();
  const Lock lock(mutex_);
  const auto handle = NextHandle<ringletStream_t>();
  const StreamRef made = Add(handle, device);
  made->flags = flags;
  made->priority = priority;
  streams_[handle] = made;
  *stream = handle;
  return {};
}

Answer StreamTable::Destroy(ringletStream_t stream) {
  if (!stream || stream == ringletStreamLegacy || stream == ringletStreamPerThread)
    return {ringletInvalidArgument, "the legacy and per-thread streams cannot be destroyed"};
  if (!Abandon(stream)) {
    const Lock lock(mutex_);
    return Unknown(stream, "stream");
  }
  Reap();
  return {};
}

bool StreamTable::Abandon(ringletStream_t stream) {
  std::shared_ptr<GraphState> dropped;  // destroyed after the lock: its end calls the program
  const Lock lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return false;
  StreamState& state = *found->second;
  if (const CaptureRef capture = state.capture) {
    if (capture->origin == stream) {
      dropped = Withdraw(capture->handle);
      Leave(capture);
    } else {
      capture->loose = Union(std::move(capture->loose), state.tips);
      state.capture = nullptr;
    }
  }
  state.retired = true;
  state.worker.Close();
  streams_.erase(found);
  return true;
}

Answer StreamTable::Describe(ringletStream_t stream, Properties* properties) {
  const Lock lock(mutex_);
  const StreamRef found = Find(stream);
  if (!found) return Unknown(stream, "stream");
  *properties = {.device = found->device,
                 .flags = found->flags,
                 .priority = found->priority,
                 .id = found->id,
                 .last_error = found->worker.last_error()};
  return {};
}

Answer StreamTable::Check(ringletStream_t stream) {
  const Lock lock(mutex_);
  return Find(stream) ? Answer{} : Unknown(stream, "stream");
}

void StreamTable::Reap(bool waits) {
  std::vector<StreamRef> streams;  // joined after the lock
  std::vector<RetiredLane> lanes;
  const Lock lock(mutex_);
  const auto ends = [&](const StreamWorker& worker, const ItemEndRef& last) {
    return worker.ended() || (waits && !(last && last->pending()));
  };
  for (auto& its : devices_) {
    DeviceStreams& device = its.second;
    std::erase_if(device.streams, [&](const StreamRef& stream) {
      const bool gone = stream->retired && ends(stream->worker, stream->last);
      if (!gone) return false;
      if (!device.unreported && stream->last && stream->last->failure())
        device.unreported = stream->last;
      streams.push_back(stream);
      return true;
    });
  }
  std::erase_if(retired_lanes_, [&](RetiredLane& retired) {
    const bool gone = ends(*retired.lane, retired.last);
    if (gone) lanes.push_back(std::move(retired));
    return gone;
  });
}

}  // namespace ringlet::stream
