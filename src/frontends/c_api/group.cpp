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

}  // namespace

Status SubmitInit(InitJob job) {
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

Status EndGroup() {
  if (group.depth == 0)
    return Error{Code::kUnsupported, "ncclGroupEnd without ncclGroupStart on this thread"};
  if (--group.depth > 0) return Ok();
  const Group collected = std::exchange(group, Group{});
  if (collected.spoiled) return *collected.spoiled;
  if (!collected.inits.empty() && !collected.calls.empty())
    return Error{Code::kUnsupported, "a group forms communicators or runs collectives, not both"};
  if (!collected.inits.empty()) return RunInits(collected.inits);
  return comm::RunGroup(collected.calls);
}

}  // namespace ringlet::c_api
