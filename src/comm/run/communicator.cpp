#include "comm/run/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/settings/setting_table.hpp"
#include "collective/call/run.hpp"
#include "comm/peers/waiting.hpp"
#include "comm/process/tuning.hpp"
#include "os/clock.hpp"
#include "os/fs/write_file.hpp"

namespace ringlet::comm {
namespace {

collective::WaitPolicy Timed(collective::WaitPolicy wait_policy) {
  wait_policy.clock = &os::Now;
  return wait_policy;
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
      inquiry_(*control_, *links_, identity_.rank, identity_.size, origin_.process->is_stopped()),
      timeout_(timeout),
      messages_(identity_.rank) {
  links_->reserve().rts->registered = host_.published_buffers();
  if (spinner_.wait_policy().looks > 0) {
    links_->reserve().rts->sizes = transport::RtsSizes::WithCores();
    tuner_.shm = collective::ShmThresholds::WithCores();
  }
  layout_.sharing = host_.hosts();
  profiles_ = origin_.process->profiler() != nullptr;
  shortages_ = origin_.process->shortages();
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

void Communicator::Calls(const collective::Fingerprint& call, std::uint64_t bytes,
                         std::uint32_t messages, Rank peer) {
  inquiry_.SetCall(call);
  control_->doing().Begin(inquiry_.call(), bytes, messages, peer);
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
  if (concluded_) [[unlikely]]
    return *concluded_;
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

Error Communicator::Conclude(const Error& error, const Operation& ended) {
  const bool lacked = origin_.process->shortages() > shortages_;
  const Error reason = inquiry_.ReasonOf(
      error, ended,
      lacked ? fmt::format("; {} has been out of file descriptors: raise ulimit -n",
                           control_->roster().DescribeRank(identity_.rank))
             : "");
  if (profile_) profile_->End(NowNs());
  control_->DumpFailure();
  concluded_ = reason;
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
