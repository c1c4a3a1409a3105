#include "comm/group.hpp"

#include <algorithm>
#include <map>

#include "collective/run.hpp"
#include "os/clock.hpp"
#include "os/poll.hpp"

namespace ringlet::comm {
namespace {

struct Running {
  Communicator* communicator;
  std::unique_ptr<collective::Execution> execution;
};

Status RunWave(const std::vector<Running>& wave) {
  std::vector<collective::Execution*> executions;
  std::vector<transport::Waiter*> waiters;
  for (const Running& one : wave) {
    executions.push_back(one.execution.get());
    waiters.push_back(&one.communicator->links().waiter());
  }
  std::chrono::milliseconds timeout = std::chrono::milliseconds::max();
  for (const Running& one : wave) timeout = std::min(timeout, one.communicator->timeout());
  const Instant deadline = os::Now() + timeout;
  collective::RunPolicy policy;
  policy.check = [&]() -> Status {
    for (const Running& one : wave) RINGLET_TRY(one.communicator->Check(deadline, *one.execution));
    return Ok();
  };
  const Status status = collective::RunAllToEnd(executions, waiters, &os::PollReadable, policy);
  for (const Running& one : wave) one.communicator->Finished();
  if (status.ok()) return Ok();
  Error reason = status.error();
  for (const Running& one : wave) reason = one.communicator->Conclude(reason);
  return reason;
}

}  // namespace

Status RunGroup(const std::vector<GroupedCall>& calls) {
  std::vector<bool> taken(calls.size(), false);
  for (std::size_t left = calls.size(); left > 0;) {
    // A wave takes the next call of every communicator.
    std::vector<Running> wave;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      Communicator* communicator = calls[i].communicator.get();
      const bool has = std::ranges::find(wave, communicator, &Running::communicator) != wave.end();
      if (taken[i] || has) continue;
      taken[i] = true;
      --left;
      RINGLET_TRY_ASSIGN(auto execution, communicator->Prepare(calls[i].call));
      wave.push_back({communicator, std::move(execution)});
    }
    RINGLET_TRY(RunWave(wave));
  }
  return Ok();
}

}  // namespace ringlet::comm
