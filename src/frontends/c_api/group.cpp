#include "frontends/c_api/group.hpp"

#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace ringlet::c_api {
namespace {

struct Group {
  int depth = 0;
  std::optional<Error> spoiled;
  std::vector<InitJob> inits;
  /// One that does not block: its handle is out.
  struct Begun {
    std::shared_ptr<Forming> forming;
    ncclComm_t handle;
    ncclComm_t* out;
  };
  std::vector<Begun> begun;
  std::vector<comm::GroupedCall> calls;
};
thread_local Group group;

Status RunInit(const InitJob& job, const std::stop_token& abort) {
  RINGLET_TRY_ASSIGN(std::shared_ptr<comm::Communicator> communicator, job.form(abort));
  *job.out = communicator ? Export(std::move(communicator)) : nullptr;
  return Ok();
}

// Each rank joins on a thread of its own: joining blocks until all have come.
Status RunInits(const std::vector<InitJob>& jobs) {
  if (jobs.size() == 1) return RunInit(jobs.front(), {});
  std::stop_source abort;
  std::mutex mutex;
  std::optional<Error> first;
  std::vector<std::thread> threads;
  threads.reserve(jobs.size());
  for (const InitJob& job : jobs)
    threads.emplace_back([&, job] {
      const Status status = RunInit(job, abort.get_token());
      if (status.ok()) return;
      const std::lock_guard lock(mutex);
      if (!first) first = status.error();
      abort.request_stop();
    });
  for (std::thread& thread : threads) thread.join();
  if (first) return *first;
  return Ok();
}

void Begin(Forming& forming) {
  forming.Start([](const Error& error) { Report("a non-blocking communicator", error); });
}

// A group that does not run leaves no handles of what will never be formed.
void Withdraw(const Group& spoiled) {
  for (const Group::Begun& begun : spoiled.begun) {
    static_cast<void>(TakeAborted(begun.handle));
    *begun.out = nullptr;
  }
}

}  // namespace

Status SubmitInit(InitJob job) {
  if (!job.blocking) {
    auto forming = std::make_shared<Forming>(std::move(job.form));
    const ncclComm_t handle = *job.out = ExportForming(forming, job.parent);
    if (group.depth == 0) {
      Begin(*forming);
    } else {
      group.begun.push_back({std::move(forming), handle, job.out});
    }
    return Ok();
  }
  if (group.depth == 0) return RunInits({std::move(job)});
  group.inits.push_back(std::move(job));
  return Ok();
}

Status SubmitCall(comm::GroupedCall call) {
  if (group.depth == 0) return call.communicator->Run(call.work);
  group.calls.push_back(std::move(call));
  return Ok();
}

void StartGroup() {
  ++group.depth;
}

void SpoilGroup(const Error& error) {
  if (group.depth > 0 && !group.spoiled) group.spoiled = error;
}

Result<bool> EndGroup() {
  if (group.depth == 0)
    return Error{Code::kUnsupported, "ncclGroupEnd without ncclGroupStart on this thread"};
  if (--group.depth > 0) return false;
  const Group collected = std::exchange(group, Group{});
  const bool forms = !collected.inits.empty() || !collected.begun.empty();
  if (collected.spoiled || (forms && !collected.calls.empty())) Withdraw(collected);
  if (collected.spoiled) return *collected.spoiled;
  if (forms && !collected.calls.empty())
    return Error{Code::kUnsupported, "a group forms communicators or runs collectives, not both"};
  for (const Group::Begun& begun : collected.begun) Begin(*begun.forming);
  if (!collected.inits.empty()) RINGLET_TRY(RunInits(collected.inits));
  if (!forms) RINGLET_TRY(comm::RunGroup(collected.calls));
  return !collected.begun.empty();
}

}  // namespace ringlet::c_api
