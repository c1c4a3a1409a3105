#include "c_api/stream_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "c_api/handle/guard.hpp"

namespace ringlet::c_api {
namespace {

/// An issued call. It does not own its communicator: destroying the communicator takes effect at
/// once, even if graphs still contain the call.
struct LaterCall {
  std::weak_ptr<comm::Communicator> communicator;
  std::shared_ptr<Issued> issued;  // with this, outlives the handle
  comm::Work work;

  /// Null after the communicator was given up. \pre  the call is in use, so its owner waits
  std::shared_ptr<comm::Communicator> Communicator() const {
    return issued->closed() ? nullptr : communicator.lock();
  }
};

std::vector<Issued::InUse> Use(const std::vector<LaterCall>& calls) {
  std::vector<Issued::InUse> in_use;
  in_use.reserve(calls.size());
  for (const LaterCall& call : calls) in_use.emplace_back(*call.issued);
  return in_use;
}

Error DestroyedError() {
  return {Code::kInvalidArgument,
          "the communicator of an operation on a stream was destroyed or aborted before the "
          "operation ran"};
}

// Aborts the communicators, because peers that made the same calls would wait forever.
void FailAll(const std::vector<LaterCall>& calls, const Error& why) {
  for (const LaterCall& call : calls) {
    call.issued->Fail(why);
    if (const auto communicator = call.Communicator(); communicator && !communicator->failure())
      communicator->Abort(why.message);
  }
}

/// While it lives, operations of the communicator carry the enqueue time of this thread's item.
class Enqueued {
 public:
  explicit Enqueued(comm::Communicator& communicator) : communicator_(communicator) {
    communicator_.SetEnqueued(stream::RunningItemEnqueued());
  }
  ~Enqueued() { communicator_.SetEnqueued(0); }
  Enqueued(const Enqueued&) = delete;
  Enqueued& operator=(const Enqueued&) = delete;

 private:
  comm::Communicator& communicator_;
};

Status RunOnCommunicators(const std::vector<LaterCall>& calls) {
  std::vector<comm::GroupedCall> grouped;
  std::deque<Enqueued> enqueued;  // destroyed before `grouped`
  for (const LaterCall& call : calls) {
    auto communicator = call.Communicator();
    if (!communicator) return DestroyedError();
    if (calls.size() == 1) {
      const Enqueued alone(*communicator);
      return communicator->Run(call.work);
    }
    enqueued.emplace_back(*communicator);
    grouped.push_back({std::move(communicator), call.work});
  }
  return comm::RunGroup(grouped);
}

Status RunLater(const std::vector<LaterCall>& calls) {
  const std::vector<Issued::InUse> in_use = Use(calls);
  Status status = RunOnCommunicators(calls);
  if (status.ok()) return status;
  FailAll(calls,
          {status.error().code, "an operation on a stream failed: " + status.error().message});
  Report("an operation on a stream", status.error());
  return status;
}

void PassOver(const std::vector<LaterCall>& calls, const Error& why) {
  const std::vector<Issued::InUse> in_use = Use(calls);
  FailAll(calls,
          {why.code, "an operation was not run, because work before it on its stream failed: " +
                         why.message});
}

bool Shares(const StreamCallSet& set, const StreamCall& call) {
  return std::any_of(set.calls.begin(), set.calls.end(), [&](const StreamCall& other) {
    return other.call.communicator == call.call.communicator ||
           (other.on_stream && call.on_stream && other.stream == call.stream);
  });
}

/// A set of calls and their positions, so that merged sets keep the order.
struct Placed {
  StreamCallSet set = {};
  std::vector<std::size_t> places = {};
};

void Absorb(Placed& into, Placed&& other) {
  for (std::size_t i = 0; i < other.places.size(); ++i) {
    const auto at = std::upper_bound(into.places.begin(), into.places.end(), other.places[i]);
    const auto index = at - into.places.begin();
    into.places.insert(at, other.places[i]);
    into.set.calls.insert(into.set.calls.begin() + index, std::move(other.set.calls[i]));
  }
}

void Describe(StreamCallSet& set) {
  for (const StreamCall& call : set.calls) {
    set.waits = set.waits || !call.on_stream;
    if (call.on_stream &&
        std::find(set.streams.begin(), set.streams.end(), call.stream) == set.streams.end())
      set.streams.push_back(call.stream);
  }
}

stream::JointTask JointTaskOf(const StreamCallSet& set) {
  stream::JointTask joint{.streams = set.streams, .task = TaskOf(set), .awaited = set.waits};
  for (const StreamCall& call : set.calls)
    if (call.begins != nullptr) joint.begins.push_back(call.begins);
  return joint;
}

}  // namespace

std::vector<StreamCallSet> Gather(std::vector<StreamCall> calls) {
  std::vector<Placed> sets;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Placed placed;
    placed.places.push_back(i);
    const auto mine = std::partition(sets.begin(), sets.end(),
                                     [&](const Placed& set) { return !Shares(set.set, calls[i]); });
    placed.set.calls.push_back(std::move(calls[i]));
    for (auto it = mine; it != sets.end(); ++it) Absorb(placed, std::move(*it));
    sets.erase(mine, sets.end());
    sets.push_back(std::move(placed));
  }
  std::sort(sets.begin(), sets.end(),
            [](const Placed& a, const Placed& b) { return a.places.front() < b.places.front(); });
  std::vector<StreamCallSet> gathered;
  for (Placed& placed : sets) {
    Describe(placed.set);
    gathered.push_back(std::move(placed.set));
  }
  return gathered;
}

stream::TaskRef TaskOf(const StreamCallSet& set) {
  auto calls = std::make_shared<std::vector<LaterCall>>();  // shared by both functions
  auto task = std::make_shared<stream::HostTask>();
  for (const StreamCall& call : set.calls) {
    calls->push_back({call.call.communicator, call.issued, call.call.work});
    if (std::find(task->orders.begin(), task->orders.end(), call.issued->order()) ==
        task->orders.end())
      task->orders.push_back(call.issued->order());
  }
  task->run = [calls] { return RunLater(*calls); };
  task->pass_over = [calls](const Error& why) { PassOver(*calls, why); };
  return task;
}

Status ToStatus(const stream::Answer& answer) {
  if (answer.code == ringletSuccess) return Ok();
  if (answer.code == ringletOutOfMemory) return Error{Code::kSystem, answer.why};
  const bool argument =
      answer.code == ringletInvalidArgument || answer.code == ringletInvalidHandle;
  return Error{argument ? Code::kInvalidArgument : Code::kUnsupported, answer.why};
}

Status CheckStream(ringletStream_t stream) {
  return ToStatus(stream::StreamTable::Here().Check(stream));
}

Status CheckBegin(ringletEvent_t event) {
  return event ? ToStatus(stream::StreamTable::Here().CheckBegin(event)) : Ok();
}

Status RecordBegin(ringletEvent_t event) {
  return event ? ToStatus(stream::StreamTable::Here().RecordNow(event)) : Ok();
}

Status IssueCalls(std::vector<StreamCall> calls, const std::function<Status()>& meanwhile) {
  std::vector<stream::JointTask> tasks;
  for (const StreamCallSet& set : Gather(std::move(calls))) tasks.push_back(JointTaskOf(set));
  RINGLET_TRY(ToStatus(stream::StreamTable::Here().Enqueue(tasks)));
  Status status = meanwhile ? meanwhile() : Ok();
  for (const stream::JointTask& task : tasks) {
    if (!task.awaited) continue;
    task.done->Wait();
    // The caller's output is incomplete, even if an abort lets the streams continue.
    const stream::FailureRef failure = task.done->cause();
    if (failure && status.ok()) status = failure->error;
  }
  return status;
}

}  // namespace ringlet::c_api
