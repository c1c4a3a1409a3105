#include "comm/run/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/settings/setting_table.hpp"
#include "collective/call/run.hpp"
#include "comm/establish/tuning.hpp"
#include "comm/process/long_wait.hpp"
#include "comm/run/waiting.hpp"
#include "os/fs/write_file.hpp"
#include "os/process/clock.hpp"
#include "watch/findings.hpp"

namespace ringlet::comm {
namespace {

using Presence = Control::Presence;

// A broken link is noticed at once; the control network tells within this time whose fault it is.
constexpr std::chrono::milliseconds kExplanation(500);
// The same where a rank does not listen any more: of its death all hear, however busy they are.
constexpr std::chrono::milliseconds kNewsOfDeath(2000);
// For finding out who is missing when an operation has timed out.
constexpr std::chrono::milliseconds kAnswer(1000);
constexpr std::uint32_t kHopsMax = 256;
// A rank that waits so long asks which rank it waits for, and after twice the time, and so on; and
// asks what the others called if it is still the same: over links that only one of two ranks uses
// neither learns what the other called.
constexpr std::chrono::milliseconds kFirstLook(500);
constexpr std::uint32_t kLooksMax = 13;  // the last after more than an hour
// The operation stands still meanwhile.
constexpr std::chrono::milliseconds kInquiryAnswer(200);

collective::WaitPolicy Timed(collective::WaitPolicy wait_policy) {
  wait_policy.clock = &os::Now;
  return wait_policy;
}

/// Once there was time to hear of its death.
bool IsGone(Presence presence) {
  return presence == Presence::kLeft || presence == Presence::kAbsent;
}

/// The fault that the user wants of this rank.
std::optional<RankFault> FaultOf(const Settings& settings, Rank self) {
  if (settings.fault.empty()) return std::nullopt;
  const RankFault fault = ParseFault(settings.fault).value();  // Process::Start has read it
  return fault.rank == settings.rank.value_or(Index(self)) ? std::optional(fault) : std::nullopt;
}

std::uint64_t NowNs() {
  return static_cast<std::uint64_t>(os::Now().count());
}

const char* NcclName(plan::NcclAlgorithm algorithm) {
  switch (algorithm) {
    case plan::NcclAlgorithm::kTree: return "TREE";
    case plan::NcclAlgorithm::kRing: break;
    case plan::NcclAlgorithm::kCollnetDirect: return "COLLNET_DIRECT";
    case plan::NcclAlgorithm::kCollnetChain: return "COLLNET_CHAIN";
    case plan::NcclAlgorithm::kNvls: return "NVLS";
    case plan::NcclAlgorithm::kNvlsTree: return "NVLS_TREE";
    case plan::NcclAlgorithm::kPat: return "PAT";
  }
  return "RING";
}

const char* NcclName(plan::Protocol protocol) {
  switch (protocol) {
    case plan::Protocol::kLl: return "LL";
    case plan::Protocol::kLl128: return "LL128";
    case plan::Protocol::kSimple: break;
  }
  return "SIMPLE";
}

bool IsMessage(collective::CallKind kind) {
  return kind == collective::CallKind::kSendReceive;
}

// Behind the name of a rank that sends slowly to `whom`; empty: it does not.
std::string SlowText(const std::vector<SlowSend>& sends, Rank whom) {
  const auto send = std::ranges::find(sends, Index(whom), &SlowSend::peer);
  return send == sends.end() ? "" : watch::ToText(*send);
}

}  // namespace

Communicator::Communicator(Origin origin, std::unique_ptr<Control> control, PeerTable peer_table,
                           plan::ChannelPlan plan, std::unique_ptr<transport::Links> links,
                           HostMemoryParts memory, std::shared_ptr<const GpuMachine> machine,
                           std::chrono::milliseconds timeout)
    : origin_(std::move(origin)),
      identity_{Rank{origin_.config.rank}, origin_.config.size, origin_.config.device,
                origin_.credentials.magic},
      control_(std::move(control)),
      peer_table_(std::move(peer_table)),
      machine_(std::move(machine)),
      traffic_(machine_ ? std::make_unique<MachineTraffic>(machine_, identity_.rank) : nullptr),
      plan_(std::move(plan)),
      layout_(LayoutOf(plan_, peer_table_)),
      tuner_(TunerFor(origin_.process->settings(), origin_.process->measured_choices())),
      links_(std::move(links)),
      spinner_(Timed(WaitPolicyOf(peer_table_, identity_.rank, origin_.process->settings().wait))),
      host_(origin_, peer_table_, spinner_.wait_policy(), std::move(memory)),
      one_sided_(
          *control_, [this] { links_->waiter().Wake(); }, MemoryOfPeers()),
      timeout_(timeout),
      messages_(identity_.rank) {
  links_->reserve().registered = host_.published_buffers();
  if (spinner_.wait_policy().looks > 0) {
    links_->reserve().offers = transport::RtsSizes::WithCores();
    tuner_.shm = collective::ShmThresholds::WithCores();
  }
  layout_.sharing = host_.hosts();
  profiles_ = origin_.process->profiler() != nullptr;
  fault_ = FaultOf(origin_.process->settings(), identity_.rank);
  if (host_.engine() != nullptr) {
    const transport::ArenaShape& shape = host_.engine()->arena().shape();
    scores_ =
        collective::ScoreTable(collective::LayoutOnHost(shape.ranks, shape.slot_bytes), tuner_);
    if (host_.IsHere()) layout_.post_bytes = shape.slot_bytes;
  }
  control_->SetSendQueues(links_->reserve().send_queues);
  control_->SetFormed(identity_.magic);
  control_->OnFailure([this] {
    links_->waiter().Wake();
    host_.GiveUp();
  });
}

Communicator::~Communicator() {
  Leave();
}

Communicator::Occupancy::Occupancy(Communicator& communicator)
    : fork_guard_(&communicator.fork_guard_) {
  if (fork_guard_->IsHere() && !communicator.occupied_.exchange(true, std::memory_order_acquire))
    communicator_ = &communicator;
}

Status Communicator::Occupancy::Check() const {
  if (granted()) return Ok();
  RINGLET_TRY(fork_guard_->Check());
  return Error{Code::kUnsupported,
               "another thread is in a call on this communicator: one thread at a time may use it, "
               "so let the threads take turns, or give each a communicator of its own"};
}

void Communicator::Leave() {
  if (std::exchange(left_, true)) return;
  WriteTraffic();
  origin_.process->WriteMetrics();
  host_.Leave();
  control_->Leave();
  profile_.reset();
  tuning_.reset();
}

// A report that cannot be written is no reason to fail what has been done.
void Communicator::WriteTraffic() const {
  const Settings& settings = origin_.process->settings();
  if (!traffic_ || settings.traffic_dir.empty()) return;
  const std::string file = fmt::format("{}/{:016x}-{}.json", settings.traffic_dir, identity_.magic,
                                       Index(identity_.rank));
  const Status written = os::WriteFile(file, traffic_->ToJson(identity_.magic, settings.host_id));
  if (!written.ok())
    origin_.process->WarnOnce("the bytes that were moved are not reported: " +
                              written.error().message);
}

std::string Communicator::WhoIsMissing(const Operation& running) {
  std::optional<Rank> suspect = running.Awaits();
  const std::uint64_t mine = control_->doing().operations;
  // Most who are waited for wait themselves: follow the chain to the one that does not. It may be
  // long, so its length is bounded; the rank that is asked answers from its service thread.
  Rank waiting = identity_.rank;
  std::set<Rank> asked = {waiting};
  while (suspect && asked.size() <= kHopsMax && asked.insert(*suspect).second) {
    const std::string name = control_->roster().DescribeRank(*suspect);
    const auto [presence, activity] = control_->Ask(*suspect, kAnswer);
    if (presence != Presence::kHere) {
      const std::string stopped =
          control_->roster().StoppedText(*suspect, origin_.process->is_stopped());
      return name + " does not answer: its process " +
             (stopped.empty() ? "is stopped or gone" : stopped);
    }
    const bool is_message = IsMessage(call_.operation);  // not counted alike on two ranks
    if (!activity.waits_for && !is_message && activity.operations < mine)
      return fmt::format("{} has not called it: it has begun {} operations, rank {} {}", name,
                         activity.operations, Index(identity_.rank), mine);
    if (const std::string slow = SlowText(activity.slow_sends, waiting); !slow.empty())
      return name + slow;
    if (!activity.waits_for)
      return name + (is_message ? " is in no operation: it has not called its side of the message, "
                                  "or the link between is stuck"
                                : " has finished its part; the link between is stuck");
    if (*activity.waits_for >= identity_.size) return "";
    waiting = *std::exchange(suspect, Rank{*activity.waits_for});
  }
  if (suspect != identity_.rank) return "";
  // The ranks wait in a circle, which ends here.
  const std::string slow = SlowText(links_->reserve().send_queues->Slow(), waiting);
  return slow.empty() ? "" : control_->roster().DescribeRank(identity_.rank) + slow;
}

void Communicator::Calls(const collective::Fingerprint& call, std::uint64_t bytes,
                         std::uint32_t messages, Rank peer) {
  SetCall(call);
  control_->doing().Begin(call_, bytes, messages, peer);
}

void Communicator::SetCall(const collective::Fingerprint& call) {
  call_ = call;
  looks_ = 0;
  seen_waiting_for_.clear();
  seen_gone_.reset();
}

Status Communicator::CompareCalls(const Operation& running, bool given_up) {
  std::optional<Rank> suspect = running.Awaits();
  std::set<Rank> asked = {identity_.rank};
  while (suspect && asked.size() <= kHopsMax && asked.insert(*suspect).second) {
    const auto [presence, activity] = control_->Ask(*suspect, kInquiryAnswer);
    // A link says itself that its end has left, behind all that was sent. If there is none the
    // second look believes it: what was done before leaving has been seen by then.
    const bool direct = suspect == running.Awaits() && links_->Find(*suspect) == nullptr;
    if (IsGone(presence) && direct && (std::exchange(seen_gone_, suspect) == suspect || given_up))
      return LeftBefore(*suspect, running);
    collective::Header header{};
    if (presence != Presence::kHere || activity.call.size() != header.size()) return Ok();
    std::copy(activity.call.begin(), activity.call.end(), header.begin());
    const auto theirs = collective::DecodeHeader(header);
    // Messages go by pairs: another one, or a collective, is wrong only if it never ends.
    const bool alike = theirs && theirs->sequence == call_.sequence;
    const bool collectives = alike && !IsMessage(theirs->operation) && !IsMessage(call_.operation);
    const bool mixed = alike && IsMessage(theirs->operation) != IsMessage(call_.operation);
    if (collectives || (given_up && mixed && activity.waits_for))
      RINGLET_TRY(collective::CheckHeader(header, *suspect, call_, identity_.rank));
    if (!activity.waits_for || *activity.waits_for >= identity_.size) return Ok();
    suspect = Rank{*activity.waits_for};
  }
  return Ok();
}

Error Communicator::LeftBefore(Rank whom, const Operation& running) const {
  const std::string when = IsMessage(call_.operation)
                               ? fmt::format("a message after {} collectives", call_.sequence)
                               : fmt::format("operation {}", call_.sequence);
  return Error{Code::kPeerLost,
               fmt::format("{} left the communicator (destroyed or aborted it) before {}: {}",
                           control_->roster().DescribeRank(whom), when, running.WaitingFor())};
}

Result<std::uint64_t> Communicator::Register(View memory) {
  if (const auto failed = failure()) return *failed;
  if (memory.empty()) return Error{Code::kInvalidArgument, "0 bytes cannot be registered"};
  return host_.buffers().Register(memory, origin_.process->heap().Find(memory));
}

// Within the host, where ranks see what the others have registered.
OneSided::PeerMemory Communicator::MemoryOfPeers() {
  if (!host_.IsHere()) return {};
  return {.find = [this](const std::byte* at,
                         std::size_t bytes) { return host_.buffers().Find(at, bytes); },
          .reach =
              [this](Rank peer, const transport::BufferPlace& place, std::size_t bytes) {
                return host_.buffers().Reach(Index(peer), place, bytes);
              }};
}

Result<std::uint32_t> Communicator::OpenWindow(std::span<std::byte> memory, std::uint32_t flags) {
  RINGLET_TRY_ASSIGN(const std::uint64_t registration, Register(memory));
  return one_sided_.Open({.memory = memory, .registration = registration, .flags = flags});
}

Status Communicator::CloseWindow(std::uint32_t window) {
  RINGLET_TRY_ASSIGN(const OneSided::Window closed, one_sided_.Close(window));
  return Deregister(closed.registration);
}

Communicator::MemoryUse Communicator::memory_use() const {
  return {.working = working_bytes_.load(std::memory_order_relaxed),
          .shared = host_.shared_bytes()};
}

Status Communicator::FreeWorkingMemory() {
  const Occupancy occupancy(*this);
  RINGLET_TRY(occupancy.Check());
  scratch_ = Bytes();
  staging_ = Bytes();
  programs_.clear();
  working_bytes_.store(0, std::memory_order_relaxed);
  return Ok();
}

std::span<std::byte> Communicator::WorkingMemory(Bytes& buffer, std::size_t bytes) {
  if (buffer.size() < bytes) {
    buffer.resize(bytes);
    working_bytes_.store(scratch_.capacity() + staging_.capacity(), std::memory_order_relaxed);
  }
  return std::span(buffer).first(bytes);
}

Status Communicator::Run(const Work& work) {
  if (const auto* const call = std::get_if<Call>(&work)) return Run(*call);
  if (const auto* const transfer = std::get_if<Transfer>(&work)) return Run({transfer, 1});
  const Occupancy occupancy(*this);
  if (!occupancy.granted()) return occupancy.Check();
  RINGLET_TRY(Validate(work));
  RINGLET_TRY_ASSIGN(const auto operation, Prepare(work));
  return RunPrepared(*operation);
}

Status Communicator::Run(const Call& call) {
  const Occupancy occupancy(*this);
  if (!occupancy.granted()) [[unlikely]]
    return occupancy.Check();
  if (const auto failed = failure()) return *failed;
  RINGLET_TRY(ValidateCall(call));
  if (Skips(call)) return Ok();
  return tuning_ ? RunChecked(Tuned(call)) : RunChecked(call);
}

Status Communicator::RunChecked(const Call& call) {
  if (host_.IsHere()) {
    StartOnHost(call);
    return RunPrepared(*host_.engine());
  }
  RINGLET_TRY_ASSIGN(const auto operation, BeyondHost(call));
  return RunPrepared(*operation);
}

Status Communicator::RunPrepared(Operation& operation) {
  // Most operations are over before the time is asked for, and many at once.
  const Result<bool> at_once = operation.Advance();
  if (at_once.ok() && *at_once) {
    Finished();
    return Ok();
  }
  StillRuns();
  std::optional<Instant> deadline;
  const auto check = [&]() -> Status {
    if (!deadline) deadline = os::Now() + timeout_;
    return Check(*deadline, operation);
  };
  const collective::RunPolicy policy{.check = std::cref(check), .spinner = &spinner_};
  const Status status = at_once.ok() ? collective::RunToEnd(operation, links_->waiter(), policy)
                                     : Status(at_once.error());
  if (!status.ok()) {
    operation.Withdraw();
    return Conclude(status.error(), operation);
  }
  Finished();
  return Ok();
}

void Communicator::StartProfile(const char* name) {
  ProfilerPlugin* const profiler = origin_.process->profiler();
  if (!profiler || profile_) return;
  profile_ =
      Profile::Begin(*profiler, {.communicator = identity_.magic,
                                 .name = name,
                                 .hosts = static_cast<std::uint32_t>(peer_table_.hosts.size()),
                                 .ranks = identity_.size,
                                 .rank = identity_.rank});
  profiles_ = profile_ != nullptr;
}

// Ranks that share memory have neither rings nor trees there, and nothing to choose in NCCL's
// words.
void Communicator::SetTuner(std::unique_ptr<TunerSession> tuner) {
  tuning_ = std::move(tuner);
  if (!tuning_ || !host_.IsHere()) return;
  origin_.process->NoteOnce(
      VariableOf(origin_.process->settings(), "TUNER_PLUGIN") +
      " is not asked where all ranks share the memory of one host: their collectives are neither "
      "rings nor trees; RINGLET_LINKS=tcp makes them");
  tuning_.reset();
}

Call Communicator::Tuned(const Call& call) const {
  const auto function = FunctionOf(call.kind);
  if (!function || identity_.size == 1) return call;
  const std::size_t bytes = std::max(InputBytes(call, place()), OutputBytes(call, place()));
  Call tuned = call;
  tuned.tuner = tuning_->Ask(
      *function, bytes,
      machine_ ? machine_->TimesOf(call) : TimesOverLinks(call, layout_, Restricted(tuner_, call)));
  if (!tuned.tuner.given) return tuned;
  const auto algorithm = static_cast<plan::NcclAlgorithm>(tuned.tuner.algorithm);
  if (!machine_) {
    const auto alike = static_cast<std::uint32_t>(OverLinksLike(algorithm).to_ulong());
    tuned.algorithms = call.algorithms == 0 ? alike : alike & call.algorithms;
    tuned.tuner.channels = 0;
  }
  LogChoice(*function, tuned);
  return tuned;
}

// As NCCL's log has it, on one rank.
void Communicator::LogChoice(plan::Function function, const Call& tuned) const {
  os::Logger& logger = origin_.process->logger();
  if (Index(identity_.rank) != 0 || !logger.Wants(LogLevel::kInfo, Subsystem::kTuning)) return;
  const auto way = machine_ ? machine_->WayOf(tuned) : Result(MachineWay{.channels = 1});
  logger.Log(LogLevel::kInfo, Subsystem::kTuning, identity_.device,
             fmt::format("{}: {} Bytes -> Algo {} proto {} channel{{Lo..Hi}}={{0..{}}}",
                         NameOf(function), BlockBytes(tuned),
                         NcclName(static_cast<plan::NcclAlgorithm>(tuned.tuner.algorithm)),
                         NcclName(static_cast<plan::Protocol>(tuned.tuner.protocol)),
                         way.ok() ? std::max(way->channels, 1u) - 1 : 0));
}

void Communicator::Profiles(const Call& call) {
  StartProfile(nullptr);
  if (profile_) profile_->BeginCollective(call, ProfiledWay(call), NowNs());
}

void Communicator::Profiles(std::span<const collective::Message> messages) {
  StartProfile(nullptr);
  if (profile_) profile_->BeginMessages(messages, NowNs());
}

Profile::Way Communicator::ProfiledWay(const Call& call) const {
  if (!machine_) {
    const auto algorithm = host_.IsHere()
                               ? AlgorithmOnHost(call)
                               : collective::Select(call, layout_, Restricted(tuner_, call));
    return {.algorithm = Name(algorithm).data(), .protocol = "SIMPLE"};
  }
  const auto way = machine_->WayOf(call);
  if (!way.ok() || !way->pick) return {.algorithm = "MESSAGES", .protocol = "SIMPLE"};
  return {.algorithm = way->carriage == plan::Carriage::kTree ? "TREE" : "RING",
          .protocol = NcclName(way->pick->protocol),
          .channels = way->channels};
}

void Communicator::Finished() {
  if (profile_) [[unlikely]]
    profile_->End(NowNs());
  // Not before others see what was posted last, which would take as long as the operation.
  control_->doing().End();
}

Status Communicator::Check(Instant deadline, const Operation& running) {
  if (auto failed = failure()) return *failed;
  const Instant now = os::Now();
  control_->doing().WaitsFor(running.Awaits(), now);
  if (now < deadline) {
    const Instant waited = now - (deadline - timeout_);
    if (waited >= LongWait::kPeriod && now - looked_around_ >= LongWait::kPeriod) {
      looked_around_ = now;
      (void)LongWait::Look();
      if (auto failed = failure()) return *failed;
    }
    if (looks_ >= kLooksMax || waited < kFirstLook * (1 << looks_)) return Ok();
    ++looks_;
    // A slow operation that moves is not held up.
    std::string waiting_for = running.WaitingFor();
    if (std::exchange(seen_waiting_for_, waiting_for) != waiting_for) {
      seen_gone_.reset();
      return Ok();
    }
    return CompareCalls(running, false);
  }
  RINGLET_TRY(CompareCalls(running, true));
  const std::string missing = WhoIsMissing(running);
  if (auto failed = failure()) return *failed;
  return Error{Code::kTimeout,
               fmt::format("{}{}{} timed out after {} ms: {}", missing, missing.empty() ? "" : "; ",
                           control_->roster().DescribeRank(identity_.rank), timeout_.count(),
                           running.WaitingFor())};
}

Error Communicator::Conclude(const Error& error, const Operation& ended) {
  const Error reason = ReasonOf(error, ended);
  if (profile_) profile_->End(NowNs());
  control_->DumpFailure();
  return reason;
}

Error Communicator::ReasonOf(const Error& error, const Operation& ended) {
  Error reason = error;
  if (error.code == Code::kPeerLost) {
    // The rank that lost a link was not the first to know why: let the control network speak first.
    if (auto better = control_->AwaitFailure(kExplanation)) return *better;
    // No rank has died, or that would be known by now.
    const std::optional<Rank> lost = ended.Awaits();
    const auto presence = lost ? control_->Ask(*lost, kInquiryAnswer).presence : Presence::kSilent;
    if (presence == Presence::kAbsent)
      if (auto better = control_->AwaitFailure(kNewsOfDeath)) return *better;
    if (IsGone(presence)) reason = LeftBefore(*lost, ended);
  }
  control_->Fail(reason);
  if (auto agreed = control_->AwaitFailure(kExplanation)) return *agreed;
  return reason;
}

void Communicator::Revoke() {
  revoked_.store(true, std::memory_order_release);
  control_->Fail(Error{Code::kAborted, control_->roster().DescribeRank(identity_.rank) +
                                           " revoked the communicator"});
}

void Communicator::Abort(const std::string& why) {
  control_->Fail(
      Error{Code::kAborted, fmt::format("{} aborted the communicator: {}",
                                        control_->roster().DescribeRank(identity_.rank), why)});
}

}  // namespace ringlet::comm
