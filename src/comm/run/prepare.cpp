// The preparation of a call: checked, then made an operation through the memory of the host, over
// links or, among several hosts, both. The rest of Communicator is in communicator.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "collective/exec/messages.hpp"
#include "collective/reduce/reduce.hpp"
#include "collective/select/select.hpp"
#include "comm/control/link_request.hpp"
#include "comm/machine/paced.hpp"
#include "comm/run/blocking_task.hpp"
#include "comm/run/communicator.hpp"
#include "comm/run/gradual_messages.hpp"
#include "comm/run/sequence.hpp"
#include "os/clock.hpp"
#include "os/fs/write_file.hpp"
#include "os/process/signals.hpp"

namespace ringlet::comm {
namespace {

using collective::Fingerprint;
using collective::Overlap;

/// The rank that runs the operation knows more about a missing rank than the wireup does, and
/// speaks first.
constexpr std::chrono::seconds kWireupGrace(10);

Error Refused(std::string why) {
  return {.code = Code::kInvalidArgument, .message = std::move(why)};
}

bool Overlapping(View a, View b) {
  return !a.empty() && !b.empty() && a.data() < b.data() + b.size() &&
         b.data() < a.data() + a.size();
}

/// Whether portions lie within `bytes` of memory.
Status CheckPortions(const Portions& portions, std::uint32_t ranks, DataType type,
                     std::size_t bytes, const char* what) {
  if (portions.counts.size() != ranks || portions.displacements.size() != ranks)
    return Refused(fmt::format("all_to_all_v {} {} counts and {} displacements among {} ranks",
                               what, portions.counts.size(), portions.displacements.size(), ranks));
  const std::size_t elements = bytes / SizeOf(type);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::size_t begin = portions.displacements[rank], count = portions.counts[rank];
    if (begin <= elements && count <= elements - begin) continue;
    return Refused(
        fmt::format("all_to_all_v {} {} elements at {} for rank {}, beyond the {} there are", what,
                    count, begin, rank, elements));
  }
  return Ok();
}

/// The memory of a portion.
template <typename Span>
Span PortionOf(Span all, const Portions& portions, std::uint32_t rank, DataType type) {
  return all.subspan(portions.displacements[rank] * SizeOf(type),
                     portions.counts[rank] * SizeOf(type));
}

/// out = input times a scalar. `scalar` is one element.
void Scale(DataType type, View input, View scalar, std::span<std::byte> out) {
  constexpr std::size_t kBlockBytes = 4096;
  std::array<std::byte, kBlockBytes> block;
  for (std::size_t at = 0; at < kBlockBytes; at += scalar.size())
    std::memcpy(block.data() + at, scalar.data(), scalar.size());
  for (std::size_t at = 0; at < input.size(); at += kBlockBytes) {
    const std::size_t bytes = std::min(kBlockBytes, input.size() - at);
    collective::Reduce({.type = type, .op = ReduceOp::kProd}, input.subspan(at, bytes),
                       View(block).first(bytes), out.subspan(at, bytes));
  }
}

/// From a place in the buffers of a call to their end.
std::span<std::byte> WritableMemoryOf(const collective::Task& task, const collective::Place& place,
                                      DataType type) {
  const bool scratch = place.buffer == collective::Buffer::kScratch;
  return (scratch ? task.scratch : task.output).subspan(place.begin * SizeOf(type));
}
View MemoryOf(const collective::Task& task, const collective::Place& place, DataType type) {
  if (place.buffer != collective::Buffer::kInput) return WritableMemoryOf(task, place, type);
  return task.input.subspan(place.begin * SizeOf(type));
}

std::vector<Rank> PeersOf(const collective::Flow& flow) {
  std::vector<Rank> peers;
  for (const collective::Lane& lane : flow.lanes)
    if (lane.direction != collective::Lane::Direction::kLocal) peers.push_back(lane.peer);
  return peers;
}

}  // namespace

// ---- Is it a call? ------------------------------------------------------------------------------

Status Communicator::Validate(const Work& work) const {
  if (const auto failed = failure()) return *failed;
  if (const auto* call = std::get_if<Call>(&work)) return ValidateCall(*call);
  if (const auto* call = std::get_if<AllToAllVCall>(&work)) return ValidatePortions(*call);
  if (const auto* put = std::get_if<Put>(&work)) return ValidatePeer(put->peer, put->signal);
  if (const auto* wait = std::get_if<SignalWait>(&work)) {
    for (const SignalCount& count : wait->counts)
      RINGLET_TRY(ValidatePeer(count.peer, count.signal));
    return Ok();
  }
  return ValidateTransfer(std::get<Transfer>(work));
}

Status Communicator::ValidatePeer(Rank peer, const Signal& signal) const {
  if (Index(peer) >= identity_.size)
    return Refused(fmt::format("a signal of rank {}, which is not below the number of ranks, {}",
                               Index(peer), identity_.size));
  if (!signal.Exists())
    return Refused(fmt::format("signal {} of context {}: there are at most {} contexts of {} each",
                               signal.number, signal.context, Signal::kContextsMax,
                               Signal::kNumbersMax));
  return Ok();
}

Status Communicator::ValidateCall(const Call& call) const {
  RINGLET_TRY(collective::Validate(call, place()));
  if (call.algorithms == 0 && !machine_) [[likely]]
    return Ok();
  if (CanRun(call)) return Ok();
  if (machine_) return machine_->WayOf(call).error();
  return Refused(fmt::format("none of the selected algorithms can run {} here", ToText(call)));
}

Status Communicator::ValidatePortions(const AllToAllVCall& call) const {
  RINGLET_TRY(CheckPortions(call.sent, identity_.size, call.type, call.input.size(), "sends"));
  RINGLET_TRY(
      CheckPortions(call.received, identity_.size, call.type, call.output.size(), "receives"));
  if (Overlapping(call.input, call.output))
    return Refused("input and output of all_to_all_v overlap");
  return Ok();
}

Status Communicator::ValidateTransfer(const Transfer& transfer) const {
  if (Index(transfer.peer) >= identity_.size)
    return Refused(fmt::format("a message {} rank {}, which is not below the number of ranks, {}",
                               transfer.sends ? "to" : "from", Index(transfer.peer),
                               identity_.size));
  RINGLET_TRY(collective::CheckCount(transfer.count, transfer.type, 1));
  const std::size_t bytes = transfer.sends ? transfer.from.size() : transfer.to.size();
  if (bytes == transfer.count * SizeOf(transfer.type)) return Ok();
  return Refused(fmt::format("{} elements of {} are not {} bytes of message", transfer.count,
                             Name(transfer.type), bytes));
}

// ---- What runs ----------------------------------------------------------------------------------

Result<std::unique_ptr<collective::Operation>> Communicator::Prepare(const Work& work) {
  if (concluded_) return *concluded_;
  if (const auto* call = std::get_if<Call>(&work)) return PrepareCall(*call);
  if (const auto* call = std::get_if<AllToAllVCall>(&work)) return PreparePortions(*call);
  if (const auto* put = std::get_if<Put>(&work)) return Prepare(std::vector<Put>{*put});
  if (const auto* wait = std::get_if<SignalWait>(&work))
    return Prepare(std::vector<SignalWait>{*wait});
  return Prepare(std::span(&std::get<Transfer>(work), 1));
}

Result<std::shared_ptr<const Communicator::Program>> Communicator::ProgramFor(
    const Call& call, const Overlap& overlap) {
  const Rank root = HasRoot(call.kind) ? call.root : Rank{};
  const ProgramKey key{call.kind, call.count,      SizeOf(call.type), root,
                       overlap,   call.algorithms, call.tuner};
  const auto it = programs_.find(key);
  if (it != programs_.end()) return it->second;
  if (programs_.size() >= kProgramsMax) programs_.clear();
  auto program = std::make_shared<Program>();
  RINGLET_TRY_ASSIGN(const collective::CallParts parts, PartsOf(call, *program));
  program->scratch_count = parts.scratch_count;
  for (const collective::CallPart& part : parts.parts) {
    Program::Stage& made = program->stages.emplace_back();
    if (const auto* schedule = std::get_if<collective::Schedule>(&part))
      made.flow = std::make_shared<const collective::Flow>(collective::Derive(*schedule, overlap));
    else
      made.on_host = std::get<collective::HostPart>(part);
  }
  programs_.emplace(key, program);
  return std::shared_ptr<const Program>(program);
}

Result<collective::CallParts> Communicator::PartsOf(const Call& call, Program& program) const {
  if (!machine_) {
    const auto algorithm = collective::Select(call, layout_, Restricted(tuner_, call));
    return collective::BuildParts(algorithm, call, place(), layout_);
  }
  RINGLET_TRY_ASSIGN(program.on_machine, machine_->WayOf(call));
  collective::Schedule schedule = machine_->ScheduleOf(call, place(), program.on_machine);
  const std::size_t scratch_count = schedule.scratch_count;
  return collective::CallParts{.scratch_count = scratch_count, .parts = {std::move(schedule)}};
}

/// The call's input, or a copy of it where the operation needs one: multiplied, or out of the way.
View Communicator::Staged(const Call& call) {
  const View input = call.input.first(InputBytes(call, place()));
  const bool multiplies = Reduces(call.kind) && call.op == ReduceOp::kPreMulSum;
  const bool moves = call.kind == CallKind::kAllToAll && Overlapping(input, call.output);
  if (input.empty() || (!multiplies && !moves)) return input;
  const std::span<std::byte> copy = WorkingMemory(staging_, input.size());
  if (multiplies) {
    const View scalar =
        call.scalar_at ? View(call.scalar_at, SizeOf(call.type)) : call.scalar.view();
    Scale(call.type, input, scalar, copy);
  } else {
    std::memcpy(copy.data(), input.data(), input.size());
  }
  return copy;
}

Fingerprint Communicator::Begin(const Call& call) {
  if (fault_) [[unlikely]]
    StrikeAt(call.kind);
  const Fingerprint begun = FingerprintOf(call, sequence_++);
  inquiry_.SetCall(begun);
  const std::size_t bytes = std::max(InputBytes(call, place()), OutputBytes(call, place()));
  if (host_.IsHere())
    control_->doing().BeginWithStep(inquiry_.call(), bytes);
  else  // the first step may have to wait for a link
    control_->doing().Begin(inquiry_.call(), bytes);
  if (profiles_) [[unlikely]]
    Profiles(call);
  return begun;
}

Result<std::unique_ptr<collective::Operation>> Communicator::PrepareCall(const Call& call) {
  if (tuning_) return BeyondHost(Tuned(call));
  return host_.IsHere() ? OnHost(call) : BeyondHost(call);
}

bool Communicator::Skips(const Work& work) {
  const auto* const call = std::get_if<Call>(&work);
  return call && Skips(*call);
}

bool Communicator::Skips(const Call& call) {
  if (call.kind == CallKind::kBarrier || call.count > 0) return false;
  Begin(call);
  if (host_.engine() != nullptr) host_.engine()->Skip(call);
  Finished();
  return true;
}

collective::Algorithm Communicator::AlgorithmOnHost(const Call& call) const {
  if (call.algorithms == 0) [[likely]]
    return scores_.For(call.kind, BlockBytes(call));
  return collective::Select(call, layout_, Restricted(tuner_, call));
}

void Communicator::StartOnHost(const Call& call) {
  Begin(call);
  const auto start = [&](const Call& its) {
    host_.engine()->Start(its, AlgorithmOnHost(its), sequence_ - 1);
  };
  if (call.kind == CallKind::kBarrier) return start({.kind = CallKind::kBarrier});
  const View input = Staged(call);
  if (input.data() == call.input.data()) [[likely]]
    return start(call);
  Call staged = call;
  staged.input = input;
  start(staged);
}

Result<std::unique_ptr<collective::Operation>> Communicator::OnHost(const Call& call) {
  StartOnHost(call);
  return std::unique_ptr<Operation>(std::make_unique<HostRun>(*host_.engine()));
}

/// The bytes that links carry for a barrier: some, since it must wait for all ranks.
Call Communicator::WithData(Call call) {
  if (call.kind != CallKind::kBarrier) return call;
  constexpr std::size_t kBarrierBytes = 1;
  call.output = WorkingMemory(staging_, kBarrierBytes);
  call.input = call.output;
  call.count = kBarrierBytes;
  call.type = DataType::kUint8;
  return call;
}

Result<std::unique_ptr<collective::Operation>> Communicator::BeyondHost(const Call& given) {
  const Call call = WithData(given);
  collective::Task task{.flow = nullptr,
                        .input = Staged(call),
                        .output = call.output.first(OutputBytes(call, place())),
                        .fingerprint = Begin(call),
                        .self = identity_.rank,
                        .ranks = identity_.size};
  RINGLET_TRY_ASSIGN(const Overlap overlap,
                     collective::OverlapOf(call, identity_.rank, task.input, task.output));
  RINGLET_TRY_ASSIGN(const auto program, ProgramFor(call, overlap));
  if (traffic_ && given.kind != CallKind::kBarrier) {
    traffic_->Began(call, place(), program->on_machine);
    task.sent = &traffic_->counter(program->on_machine.carriage);
  }
  task.scratch = WorkingMemory(scratch_, program->scratch_count * SizeOf(call.type));
  if (program->stages.size() == 1)
    return Paced(StartStage(program->stages.front(), call, task, true), call, program->on_machine);
  std::vector<Sequence::SubOperation> parts;
  for (const Program::Stage& stage : program->stages) {
    const bool is_first = parts.empty();
    parts.push_back({.make = [this, program, &stage, call, task,
                              is_first] { return StartStage(stage, call, task, is_first); },
                     .over_links = stage.flow != nullptr,
                     .links_before = stage.on_host.links_before});
  }
  return Sequence::Begin(std::move(parts));
}

Result<std::unique_ptr<collective::Operation>> Communicator::Paced(
    Result<std::unique_ptr<Operation>> started, const Call& call, const MachineWay& way) {
  if (!way.pick || !started.ok() || !origin_.process->settings().pace) return started;
  constexpr std::chrono::microseconds kSpin(60);  // how late a sleep ends
  const Instant predicted(static_cast<std::int64_t>(way.predicted_ns()));
  // Before it times out, whatever is predicted.
  Pace pace{.until = os::Now() + std::min(predicted, Instant(timeout_) / 2),
            .now = os::Now,
            .on_late = [this, call, way] { traffic_->WasSlower(call, way); },
            .spin = spinner_.wait_policy().looks > 0 ? Instant(kSpin) : Instant(0)};
  return std::unique_ptr<Operation>(
      std::make_unique<PacedOperation>(*std::move(started), links_->waiter(), std::move(pace)));
}

Result<std::unique_ptr<collective::Operation>> Communicator::StartStage(const Program::Stage& stage,
                                                                        const Call& call,
                                                                        collective::Task task,
                                                                        bool is_first) {
  if (!stage.flow) {
    StartPartOnHost(stage.on_host, call, task, is_first);
    return std::unique_ptr<Operation>(std::make_unique<HostRun>(*host_.engine()));
  }
  task.flow = stage.flow;
  const auto run = [this, task]() -> Result<std::unique_ptr<Operation>> {
    return std::unique_ptr<Operation>(std::make_unique<collective::Execution>(task, LinkTo()));
  };
  const auto has_link = [&](const collective::Lane& lane) {
    const bool local = lane.direction == collective::Lane::Direction::kLocal;
    return local || lane.peer == identity_.rank || links_->Find(lane.peer) != nullptr;
  };
  if (std::ranges::all_of(task.flow->lanes, has_link)) [[likely]]
    return run();
  return WithLinks(PeersOf(*task.flow), ToText(task.fingerprint), run);
}

void Communicator::StartPartOnHost(const collective::HostPart& part, const Call& call,
                                   const collective::Task& task, bool is_first) {
  collective::ShmCollective& engine = *host_.engine();
  const collective::CallPlace place{Rank{engine.self()}, engine.arena().shape().ranks};
  Call here{.kind = part.kind,
            .count = part.count,
            .type = call.type,
            .op = call.op == ReduceOp::kAvg ? ReduceOp::kSum : call.op,
            .root = part.root};
  if (const std::size_t bytes = InputBytes(here, place); bytes > 0)
    here.input = MemoryOf(task, part.input, call.type).first(bytes);
  if (const std::size_t bytes = OutputBytes(here, place); bytes > 0)
    here.output = WritableMemoryOf(task, part.output, call.type).first(bytes);
  using PartOf = collective::ShmCollective::PartOf;
  const PartOf which = part.after_links ? PartOf::kAfterLinks
                       : is_first       ? PartOf::kFirst
                                        : PartOf::kNext;
  engine.StartPart(here, scores_.For(here.kind, BlockBytes(here)),
                   {.call = call, .number = task.fingerprint.sequence, .part = which});
}

Result<std::unique_ptr<collective::Operation>> Communicator::PreparePortions(
    const AllToAllVCall& call) {
  const std::uint64_t sequence = sequence_++;
  // The part that is the same on all ranks: each pair has its own count.
  Calls({.sequence = sequence, .operation = CallKind::kAllToAllV, .type = call.type},
        std::max(call.input.size(), call.output.size()));
  std::vector<collective::Message> messages;
  for (std::uint32_t distance = 0; distance < identity_.size; ++distance) {
    const Rank to{(Index(identity_.rank) + distance) % identity_.size};
    const Rank from{(Index(identity_.rank) + identity_.size - distance) % identity_.size};
    const auto fingerprint = [&](const Portions& portions, Rank peer, Rank receiver) {
      return Fingerprint{.sequence = sequence,
                         .operation = CallKind::kAllToAllV,
                         .type = call.type,
                         .count = portions.counts[Index(peer)],
                         .root = receiver};
    };
    messages.push_back({.peer = to,
                        .sends = true,
                        .fingerprint = fingerprint(call.sent, to, to),
                        .from = PortionOf(call.input, call.sent, Index(to), call.type)});
    messages.push_back({.peer = from,
                        .fingerprint = fingerprint(call.received, from, identity_.rank),
                        .to = PortionOf(call.output, call.received, Index(from), call.type)});
  }
  for (collective::Message& message : messages) CountPortion(message);
  if (profiles_) Profiles(messages);
  const std::string purpose = fmt::format("all_to_all_v as operation {}", sequence);
  const auto exchange = [this, purpose, messages = std::move(messages)] {
    return Exchange(messages, purpose);
  };
  if (!host_.IsHere()) return exchange();
  // If collectives go through memory, a rank that calls another one is there and not on the links.
  host_.engine()->Start({.kind = CallKind::kAllToAllV}, scores_.For(CallKind::kAllToAllV, 0),
                        sequence);
  return Sequence::Of(std::make_unique<HostRun>(*host_.engine()), exchange);
}

collective::SentBytes* Communicator::CountsMessage(const Transfer& transfer) {
  if (!traffic_ || !transfer.sends) return nullptr;
  traffic_->BeganMessage(transfer.peer, transfer.count * SizeOf(transfer.type));
  return &traffic_->counter(plan::Carriage::kMessage);
}

void Communicator::StrikeAt(CallKind kind) {
  if (!fault_->Strikes(kind)) return;
  const std::string& file = origin_.process->settings().fault_file;
  if (!file.empty()) static_cast<void>(os::WriteFile(file, ""));
  os::KillThisProcess();
}

void Communicator::CountPortion(collective::Message& message) {
  if (!traffic_ || !message.sends) return;
  traffic_->BeganMessage(message.peer, message.from.size(), CallKind::kAllToAllV);
  message.sent = &traffic_->counter(plan::Carriage::kMessage);
}

void Communicator::CollectMessages(std::span<const Transfer> transfers) {
  if (fault_ && !transfers.empty()) [[unlikely]]
    StrikeAt(CallKind::kSendReceive);
  transfers_.clear();
  std::uint64_t bytes = 0;
  for (const Transfer& transfer : transfers) {
    bytes += transfer.from.size() + transfer.to.size();
    transfers_.push_back({.peer = transfer.peer,
                          .sends = transfer.sends,
                          .fingerprint = {.sequence = sequence_,
                                          .operation = CallKind::kSendReceive,
                                          .type = transfer.type,
                                          .count = transfer.count,
                                          .root = transfer.sends ? transfer.peer : identity_.rank},
                          .from = transfer.from,
                          .to = transfer.to,
                          .sent = CountsMessage(transfer)});
  }
  if (transfers_.empty()) return;
  Calls(transfers_.front().fingerprint, bytes, static_cast<std::uint32_t>(transfers.size()),
        transfers.front().peer);
  if (profiles_) [[unlikely]]
    Profiles(transfers_);
}

Result<std::unique_ptr<collective::Operation>> Communicator::Prepare(
    std::span<const Transfer> transfers) {
  CollectMessages(transfers);
  return ExchangeCollected();
}

Result<std::unique_ptr<collective::Operation>> Communicator::ExchangeCollected() {
  return Exchange(transfers_, fmt::format("a message after {} collectives", sequence_));
}

std::unique_ptr<collective::Operation> Communicator::Prepare(std::vector<Put> puts) {
  const Put& first = puts.front();
  Calls({.sequence = sequence_,
         .operation = CallKind::kSendReceive,
         .type = DataType::kUint8,
         .count = first.from.size(),
         .root = first.peer},
        first.from.size(), static_cast<std::uint32_t>(puts.size()), first.peer);
  return one_sided_.Run(std::move(puts));
}

std::unique_ptr<collective::Operation> Communicator::Prepare(std::vector<SignalWait> waits) {
  Calls({.sequence = sequence_,
         .operation = CallKind::kSendReceive,
         .type = DataType::kUint8,
         .root = identity_.rank},
        0, static_cast<std::uint32_t>(waits.size()),
        waits.front().counts.empty() ? identity_.rank : waits.front().counts.front().peer);
  return one_sided_.Run(std::move(waits));
}

Status Communicator::Run(std::span<const Transfer> transfers) {
  const Occupancy occupancy(*this);
  if (!occupancy.granted()) [[unlikely]]
    return occupancy.Check();
  if (const auto failed = failure()) return *failed;
  for (const Transfer& transfer : transfers) RINGLET_TRY(ValidateTransfer(transfer));
  CollectMessages(transfers);
  if (messages_.Start(transfers_, LinkTo())) return RunPrepared(messages_);
  RINGLET_TRY_ASSIGN(const auto operation, ExchangeCollected());
  return RunPrepared(*operation);
}

collective::LinkTo Communicator::LinkTo() const {
  return [this](Rank peer) { return links_->Find(peer); };
}

Result<std::unique_ptr<BlockingTask>> Communicator::LinksTo(std::vector<Rank> peers,
                                                            std::string purpose) {
  std::erase_if(peers,
                [&](Rank peer) { return peer == identity_.rank || links_->Find(peer) != nullptr; });
  if (peers.empty()) return std::unique_ptr<BlockingTask>();
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  auto begun = BeginLinks(std::move(peers), purpose);
  if (begun.ok()) return begun;
  // The operation has begun: the other ranks would wait for it until this rank leaves.
  Error error = std::move(begun).error();
  error.message = fmt::format("{} cannot make the links that {} needs: {}{}",
                              control_->roster().DescribeRank(identity_.rank), purpose,
                              error.message, error.os_errno == EMFILE ? "; raise ulimit -n" : "");
  control_->Fail(error);
  return error;
}

Result<std::unique_ptr<BlockingTask>> Communicator::BeginLinks(std::vector<Rank> peers,
                                                               std::string purpose) {
  RINGLET_TRY_ASSIGN(auto request, RequestFor(origin_, peers, peer_table_, *control_,
                                              os::Now() + timeout_ + kWireupGrace));
  std::stop_source stop;
  transport::ConnectTools tools = ToolsOf(*origin_.process);
  tools.abort = stop.get_token();
  RINGLET_TRY_ASSIGN(auto begun, transport::Extension::Begin(std::move(request), *links_, tools));
  const std::shared_ptr<transport::Extension> extension = std::move(begun);  // of both functions
  BlockingTask::Parts parts{.run = nullptr,
                            .stop = stop,
                            .take = [extension] { return extension->Take(); },
                            .waiter = links_->waiter(),
                            .self = identity_.rank,
                            .peers = std::move(peers),
                            .purpose = std::move(purpose)};
  if (extension->meets()) parts.run = [extension] { return extension->Meet(); };
  return std::make_unique<BlockingTask>(std::move(parts));
}

Result<std::unique_ptr<collective::Operation>> Communicator::WithLinks(
    std::vector<Rank> peers, std::string purpose,
    std::function<Result<std::unique_ptr<Operation>>()> then) {
  RINGLET_TRY_ASSIGN(auto blocking_task, LinksTo(std::move(peers), std::move(purpose)));
  if (!blocking_task) return then();
  return Sequence::Of(std::move(blocking_task), std::move(then));
}

Result<std::unique_ptr<collective::Operation>> Communicator::Exchange(
    std::vector<collective::Message> messages, std::string purpose) {
  std::vector<Rank> peers;
  for (const collective::Message& message : messages) peers.push_back(message.peer);
  RINGLET_TRY_ASSIGN(auto blocking_task, LinksTo(std::move(peers), std::move(purpose)));
  return std::unique_ptr<Operation>(std::make_unique<GradualMessages>(
      std::move(messages), identity_.rank, LinkTo(), std::move(blocking_task)));
}

}  // namespace ringlet::comm
