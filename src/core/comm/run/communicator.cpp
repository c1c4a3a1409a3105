#include "comm/run/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collective/call/run.hpp"
#include "comm/backend/make_backend.hpp"
#include "comm/backend/sequence.hpp"
#include "comm/peers/waiting.hpp"
#include "comm/run/check_work.hpp"

namespace ringlet::comm {
namespace {

using collective::Operation;

// A rank looks so often for a small message before it starts the general engine, in less than 1 us.
constexpr std::uint32_t kLooksForSmall = 64;

collective::WaitPolicy Timed(collective::WaitPolicy wait_policy) {
  wait_policy.clock = &os::Now;
  return wait_policy;
}

}  // namespace

Communicator::Communicator(Description description, std::unique_ptr<Control> control,
                           std::unique_ptr<transport::Links> links, HostMemoryParts memory,
                           std::shared_ptr<const GpuMachine> machine,
                           std::chrono::milliseconds timeout)
    : description_(std::move(description)),
      control_(std::move(control)),
      spinner_(Timed(WaitPolicyOf(peer_table(), place().self, origin().process->settings().wait))),
      host_memory_(origin(), peer_table(), spinner_.wait_policy(), std::move(memory)),
      links_(std::move(links), origin(), peer_table(), *control_, timeout),
      backend_(MakeBackend({.origin = origin(),
                            .peer_table = peer_table(),
                            .plan = plan(),
                            .host_memory = host_memory_,
                            .links = links_,
                            .machine = std::move(machine),
                            .spins = spinner_.wait_policy().looks > 0})),
      messenger_(links_, *backend_, place().self),
      one_sided_(
          *control_, [this] { links_.waiter().Wake(); }, host_memory_, origin().process->heap()),
      inquiry_(*control_, links_.links(), place().self, place().ranks, *origin().process),
      observers_(ObserversOf(origin(), peer_table(), *backend_, *control_)) {
  if (auto* const engine = host_memory_.engine())
    spinner_.Share(engine->arena().header().yield_pause);
  transport::Links::Reserve& reserve = links_.links().reserve();
  reserve.rts->registered = host_memory_.published_buffers();
  using transport::RtsSizes;
  reserve.rts->sizes =
      spinner_.wait_policy().looks > 0 ? RtsSizes::WithCores(&os::Ticks) : RtsSizes::Sharing();
  control_->SetSendQueues(reserve.send_queues);
  control_->SetFormed(origin().credentials.magic);
  control_->OnFailure([this] {
    links_.waiter().Wake();
    backend_->GiveUp();
  });
}

Communicator::~Communicator() {
  Leave();
}

void Communicator::Leave() {
  if (std::exchange(left_, true)) return;
  origin().process->diagnostics().WriteMetrics();
  backend_->Leave();
  control_->Leave();
  observers_.clear();
  tuned_.reset();
}

void Communicator::Announce(const char* name) {
  for (const auto& observer : observers_) observer->Formed(name);
}

void Communicator::SetTuner(std::unique_ptr<TunerSession> tuner) {
  tuned_ = TunedCalls::Begin(std::move(tuner), origin(), *backend_);
}

// ---- operations ---------------------------------------------------------------------------------

Status Communicator::Run(const Work& work) {
  if (const auto* const call = std::get_if<Call>(&work)) return Run(*call);
  if (const auto* const transfer = std::get_if<Transfer>(&work)) return Run({transfer, 1});
  const Occupancy occupancy(use_);
  RINGLET_TRY(occupancy.Check());
  RINGLET_TRY(Validate(work));
  RINGLET_TRY_ASSIGN(const Started started, Start(work));
  return RunToEnd(*started);
}

Status Communicator::Run(const Call& call) {
  const Occupancy occupancy(use_);
  if (!occupancy.granted()) [[unlikely]]
    return occupancy.Check();
  if (const auto failed = failure()) return *failed;
  RINGLET_TRY(collective::Validate(call, place()));
  if (call.algorithms != 0 || backend_->traits.refuses_any) [[unlikely]]
    RINGLET_TRY(backend_->Can(call));
  if (FinishIfEmpty(call)) return Ok();
  Started started;
  RINGLET_TRY(Start(call, started));
  return RunToEnd(*started);
}

Status Communicator::Run(std::span<const Transfer> transfers) {
  const Occupancy occupancy(use_);
  if (!occupancy.granted()) [[unlikely]]
    return occupancy.Check();
  if (const auto failed = failure()) return *failed;
  for (const Transfer& transfer : transfers) RINGLET_TRY(CheckTransfer(transfer, place().ranks));
  if (!transfers.empty() && observers_.empty()) [[likely]] {
    RecordMessages(transfers);
    const std::uint32_t looks = std::min(spinner_.wait_policy().looks, kLooksForSmall);
    transfers = messenger_.RunSmall(transfers, sequence_, looks);
    if (transfers.empty()) {
      Finish();
      return Ok();
    }
    messenger_.Collect(transfers, sequence_);
    RINGLET_TRY_ASSIGN(const Started started, messenger_.Start(sequence_));
    return RunToEnd(*started);
  }
  RINGLET_TRY_ASSIGN(const Started started, Start(transfers));
  return RunToEnd(*started);
}

Status Communicator::RunToEnd(Operation& operation) {
  // Most operations end before the clock is read, and many end at once.
  const Result<bool> at_once = operation.Advance();
  if (at_once.ok() && *at_once) {
    Finish();
    return Ok();
  }
  NoteWait();
  std::optional<Instant> deadline;
  const auto check = [&]() -> Status {
    if (!deadline) deadline = os::Now() + timeout();
    return Check(*deadline, operation);
  };
  const collective::RunPolicy policy{.check = std::cref(check), .spinner = &spinner_};
  const Status status = at_once.ok() ? collective::RunToEnd(operation, links_.waiter(), policy)
                                     : Status(at_once.error());
  if (!status.ok()) {
    operation.Withdraw();
    return Conclude(status.error(), operation);
  }
  Finish();
  return Ok();
}

Status Communicator::Validate(const Work& work) const {
  if (const auto failed = failure()) return *failed;
  const std::uint32_t ranks = place().ranks;
  if (const auto* call = std::get_if<Call>(&work)) {
    RINGLET_TRY(collective::Validate(*call, place()));
    return backend_->Can(*call);
  }
  if (const auto* call = std::get_if<AllToAllVCall>(&work)) return CheckPortions(*call, ranks);
  if (const auto* put = std::get_if<Put>(&work)) return CheckSignal(put->peer, put->signal, ranks);
  if (const auto* wait = std::get_if<SignalWait>(&work)) return CheckWait(*wait, ranks);
  return CheckTransfer(std::get<Transfer>(work), ranks);
}

bool Communicator::FinishIfEmpty(const Work& work) {
  const auto* const call = std::get_if<Call>(&work);
  return call && FinishIfEmpty(*call);
}

bool Communicator::FinishIfEmpty(const Call& call) {
  if (call.kind == CallKind::kBarrier || call.count > 0) [[likely]]
    return false;
  Begin(call);
  backend_->CountEmptyCall(inquiry_.call());
  Finish();
  return true;
}

Result<Started> Communicator::Start(const Work& work) {
  if (const auto& concluded = inquiry_.concluded()) return *concluded;
  if (const auto* call = std::get_if<Call>(&work)) {
    Started started;
    RINGLET_TRY(Start(*call, started));
    return started;
  }
  if (const auto* call = std::get_if<AllToAllVCall>(&work)) return Start(*call);
  if (const auto* put = std::get_if<Put>(&work)) return Start(std::vector<Put>{*put});
  if (const auto* wait = std::get_if<SignalWait>(&work))
    return Start(std::vector<SignalWait>{*wait});
  return Start(std::span(&std::get<Transfer>(work), 1));
}

Status Communicator::Start(const Call& call, Started& started) {
  if (const auto& concluded = inquiry_.concluded()) [[unlikely]]
    return *concluded;
  if (tuned_) [[unlikely]] {
    const Call tuned = tuned_->Apply(call);
    Begin(tuned);
    return backend_->Start(tuned, inquiry_.call(), started);
  }
  Begin(call);
  return backend_->Start(call, inquiry_.call(), started);
}

Result<Started> Communicator::Start(std::span<const Transfer> transfers) {
  const std::span<const collective::Message> messages = messenger_.Collect(transfers, sequence_);
  if (!messages.empty()) {
    RecordMessages(transfers);
    for (const auto& observer : observers_) observer->BeganMessages(messages);
  }
  return messenger_.Start(sequence_);
}

void Communicator::RecordMessages(std::span<const Transfer> transfers) {
  std::uint64_t bytes = 0;
  for (const Transfer& one : transfers) bytes += one.from.size() + one.to.size();
  const Transfer& first = transfers.front();
  Record(FingerprintOf(first, sequence_, place().self), bytes,
         static_cast<std::uint32_t>(transfers.size()), first.peer);
}

Started Communicator::Start(OneSidedWork work) {
  collective::Fingerprint call{.sequence = sequence_,
                               .operation = CallKind::kSendReceive,
                               .type = DataType::kUint8,
                               .root = place().self};
  if (auto* const waits = std::get_if<std::vector<SignalWait>>(&work)) {
    const auto& counts = waits->front().counts;
    Record(call, 0, static_cast<std::uint32_t>(waits->size()),
           counts.empty() ? place().self : counts.front().peer);
    return Started(one_sided_.Run(std::move(*waits)));
  }
  auto& puts = std::get<std::vector<Put>>(work);
  const Put& first = puts.front();
  call.count = first.from.size();
  call.root = first.peer;
  Record(call, first.from.size(), static_cast<std::uint32_t>(puts.size()), first.peer);
  return Started(one_sided_.Run(std::move(puts)));
}

Result<Started> Communicator::Start(const AllToAllVCall& call) {
  const std::uint64_t sequence = sequence_++;
  // Records the part that is the same on all ranks. Each pair has its own count.
  Record({.sequence = sequence, .operation = CallKind::kAllToAllV, .type = call.type},
         std::max(call.input.size(), call.output.size()));
  std::vector<collective::Message> messages = MessagesOf(call, place(), sequence);
  for (collective::Message& one : messages)
    if (one.sends)
      one.sent = backend_->CountMessage(one.peer, one.from.size(), CallKind::kAllToAllV);
  for (const auto& observer : observers_) observer->BeganMessages(messages);
  const std::string purpose = fmt::format("all_to_all_v as operation {}", sequence);
  auto exchange = [this, purpose, messages = std::move(messages)] {
    return links_.Exchange(messages, purpose);
  };
  auto meeting = backend_->CheckCalls(CallKind::kAllToAllV, sequence);
  if (!meeting) return StartedBy(exchange());
  return Started(Sequence::Of(std::move(meeting), std::move(exchange)));
}

void Communicator::Record(const collective::Fingerprint& call, std::uint64_t bytes,
                          std::uint32_t messages, Rank peer) {
  inquiry_.SetCall(call);
  control_->doing().Begin(inquiry_.call(), bytes, messages, peer);
}

void Communicator::Begin(const Call& call) {
  for (const auto& observer : observers_) observer->Began(call);
  inquiry_.SetCall(FingerprintOf(call, sequence_++));
  const std::size_t bytes = std::max(call.input.size(), call.output.size());
  if (backend_->traits.begins_without_waiting) [[likely]]
    control_->doing().BeginWithStep(inquiry_.call(), bytes);
  else
    control_->doing().Begin(inquiry_.call(), bytes);
}

void Communicator::Finish() {
  std::erase_if(observers_, [](const auto& observer) {
    observer->Ended();
    return observer->is_done();
  });
  // Uses relaxed stores. Waiting until peers see the last post would take as long as the operation.
  control_->doing().End();
}

Error Communicator::Conclude(const Error& error, const Operation& ended) {
  Error reason = inquiry_.Conclude(error, ended);
  for (const auto& observer : observers_) observer->Ended();
  control_->DumpFailure();
  return reason;
}

// ---- the rest -----------------------------------------------------------------------------------

Communicator::MemoryUse Communicator::memory_use() const {
  return {.working = backend_->working_bytes(), .shared = host_memory_.shared_bytes()};
}

Status Communicator::FreeWorkingMemory() {
  const Occupancy occupancy(use_);
  RINGLET_TRY(occupancy.Check());
  backend_->FreeWorkingMemory();
  return Ok();
}

void Communicator::Abort(const std::string& why) {
  control_->Fail(
      Error{Code::kAborted, fmt::format("{} aborted the communicator: {}",
                                        control_->roster().DescribeRank(place().self), why)});
}

void Communicator::Revoke() {
  revoked_.store(true, std::memory_order_release);
  control_->Fail(Error{
      Code::kAborted, control_->roster().DescribeRank(place().self) + " revoked the communicator"});
}

}  // namespace ringlet::comm
