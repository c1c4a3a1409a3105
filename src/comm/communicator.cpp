#include "comm/communicator.hpp"

#include <fmt/format.h>

#include "collective/ring.hpp"
#include "collective/run.hpp"
#include "os/clock.hpp"

namespace ringlet::comm {
namespace {

// A broken link is noticed at once; the control network tells within this time whose fault it is.
constexpr std::chrono::milliseconds kExplanation(500);
// For finding out who is missing when an operation has timed out.
constexpr std::chrono::milliseconds kAnswer(1000);
constexpr std::uint32_t kHopsMax = 256;

}  // namespace

Communicator::Communicator(Origin origin, std::unique_ptr<Control> control, Census census,
                           plan::ChannelPlan plan, std::unique_ptr<transport::Links> links,
                           std::chrono::milliseconds timeout)
    : origin_(std::move(origin)),
      identity_{Rank{origin_.config.rank}, origin_.config.size, origin_.config.device,
                origin_.credentials.magic},
      control_(std::move(control)),
      census_(std::move(census)),
      plan_(std::move(plan)),
      links_(std::move(links)),
      timeout_(timeout) {
  control_->OnFailure([this] { links_->waiter().Wake(); });
}

Communicator::~Communicator() {
  control_->Leave();
}

std::shared_ptr<const collective::Flow> Communicator::FlowFor(std::size_t count) {
  const auto it = flows_.find(count);
  if (it != flows_.end()) return it->second;
  if (flows_.size() >= kFlowsMax) flows_.clear();
  const auto schedule =
      collective::RingAllReduce(plan_.channels.front().ranks, identity_.rank, count);
  auto flow = std::make_shared<const collective::Flow>(collective::Derive(schedule));
  flows_.emplace(count, flow);
  return flow;
}

Result<std::unique_ptr<collective::Execution>> Communicator::Prepare(const Call& call) {
  if (const auto failed = failure()) return *failed;
  const std::size_t bytes = call.count * SizeOf(call.type);
  if (call.count > SIZE_MAX / 8 || call.input.size() != bytes || call.output.size() != bytes)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} elements of {} are not {} bytes of input and {} of output",
                             call.count, Name(call.type), call.input.size(), call.output.size())};
  const bool same = call.input.data() == call.output.data();
  const bool apart = call.input.data() + bytes <= call.output.data() ||
                     call.output.data() + bytes <= call.input.data();
  if (!same && !apart)
    return Error{Code::kInvalidArgument, "input and output overlap without being the same"};
  collective::Task task{.flow = FlowFor(call.count),
                        .input = call.input,
                        .output = call.output,
                        .fingerprint = {.sequence = sequence_++,
                                        .operation = collective::Operation::kAllReduce,
                                        .type = call.type,
                                        .op = call.op,
                                        .count = call.count},
                        .self = identity_.rank,
                        .ranks = identity_.size};
  control_->doing().operations = sequence_;
  return std::make_unique<collective::Execution>(
      std::move(task), [this](Rank peer, std::uint16_t) { return links_->Find(peer); });
}

std::string Communicator::WhoIsMissing(const collective::Execution& running) {
  std::optional<Rank> suspect = running.Awaits();
  const std::uint64_t mine = control_->doing().operations;
  // Most who are waited for wait themselves: follow the chain to the one that does not. It may be
  // long, so its length is bounded; whoever is asked answers from its service thread.
  for (std::uint32_t hop = 0; suspect && hop < kHopsMax && *suspect != identity_.rank; ++hop) {
    const std::string name = control_->roster().DescribeRank(*suspect);
    const auto activity = control_->Ask(*suspect, kAnswer);
    if (!activity) return name + " does not answer: its process is stopped or gone";
    if (activity->operations < mine)
      return fmt::format("{} has not called it: it has begun {} operations, this rank {}", name,
                         activity->operations, mine);
    if (!activity->waits_for) return name + " has finished its part; the link between is stuck";
    if (*activity->waits_for >= identity_.size) break;
    suspect = Rank{*activity->waits_for};
  }
  return "";
}

Status Communicator::AllReduce(const Call& call) {
  RINGLET_TRY_ASSIGN(const auto execution, Prepare(call));
  const Instant deadline = os::Now() + timeout_;
  const collective::RunPolicy policy{.check = [&] { return Check(deadline, *execution); }};
  const Status status = collective::RunToEnd(*execution, links_->waiter(), policy);
  if (!status.ok()) return Conclude(status.error());
  Finished();
  return Ok();
}

void Communicator::Finished() {
  control_->doing().waits_for = -1;
}

Status Communicator::Check(Instant deadline, const collective::Execution& running) {
  if (auto failed = failure()) return *failed;
  const auto awaits = running.Awaits();
  control_->doing().waits_for = awaits ? static_cast<std::int64_t>(Index(*awaits)) : -1;
  if (os::Now() < deadline) return Ok();
  const std::string missing = WhoIsMissing(running);
  if (auto failed = failure()) return *failed;
  return Error{Code::kTimeout,
               fmt::format("{}{}{} timed out after {} ms: {}", missing, missing.empty() ? "" : "; ",
                           control_->roster().DescribeRank(identity_.rank), timeout_.count(),
                           running.WaitingFor())};
}

Error Communicator::Conclude(const Error& error) {
  // Whoever lost a link was not the first to know why: let the control network speak first.
  if (error.code == Code::kPeerLost)
    if (auto better = control_->AwaitFailure(kExplanation)) return *better;
  control_->Fail(error);
  if (auto agreed = control_->AwaitFailure(kExplanation)) return *agreed;
  return error;
}

void Communicator::Abort(const std::string& why) {
  control_->Fail(
      Error{Code::kAborted, fmt::format("{} aborted the communicator: {}",
                                        control_->roster().DescribeRank(identity_.rank), why)});
}

}  // namespace ringlet::comm
