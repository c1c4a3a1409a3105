// The views of a Control for external tools: `ringlet status`, metrics and traces.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "comm/control/shared_state.hpp"
#include "os/clock.hpp"
#include "os/fs/write_file.hpp"

namespace ringlet::comm {
namespace {

using watch::RankState;

// Maximum number of peers that one rank queries for a status.
constexpr std::uint32_t kPeersAskedMax = 1024;

/// Decodes the call that a rank reported to a peer. Empty without a call, or if it does not parse.
std::optional<watch::RecordedOperation> DecodeCall(const Bytes& told) {
  collective::Header header{};
  if (told.size() != header.size()) return std::nullopt;
  std::copy(told.begin(), told.end(), header.begin());
  const auto call = collective::DecodeHeader(header);
  if (!call) return std::nullopt;
  const bool is_message = call->operation == collective::CallKind::kSendReceive;
  return watch::RecordedOperation{
      .sequence = call->sequence,
      .call = std::string(Name(call->operation)),
      .count = call->count,
      .type = std::string(Name(call->type)),
      .reduction = Reduces(call->operation) ? std::string(Name(call->op)) : "",
      .root =
          is_message || HasRoot(call->operation) ? std::optional(Index(call->root)) : std::nullopt,
      .bytes = call->count * SizeOf(call->type),
      .messages = is_message ? 1u : 0u};
}

/// Returns the first ranks of `members` except `self`, with their roster entries.
std::vector<RankState> PeersIn(const bootstrap::Roster& members, std::uint32_t self,
                               RankState::Reach reach) {
  std::vector<RankState> peers;
  for (std::uint32_t rank = 0; rank < std::min(members.size(), kPeersAskedMax); ++rank) {
    if (rank == self) continue;
    RankState peer{.rank = rank, .reach = reach};
    if (const auto address = members.At(Rank{rank}); address.ok()) {
      peer.host = address->host;
      peer.pid = address->pid;
    }
    peers.push_back(std::move(peer));
  }
  return peers;
}

std::vector<watch::CallTally> TalliesOf(std::span<const std::uint64_t> counts) {
  std::vector<watch::CallTally> tallies;
  for (std::size_t kind = 0; kind < std::min(counts.size(), collective::kCallKinds); ++kind)
    if (counts[kind] > 0)
      tallies.push_back({.call = std::string(Name(static_cast<collective::CallKind>(kind))),
                         .count = counts[kind]});
  return tallies;
}

/// Returns the result of nccl.h for a failure of that code, as the C interface does.
std::uint32_t ResultOf(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return 4;
    case Code::kUnsupported:
    case Code::kProtocol: return 5;
    case Code::kPeerLost:
    case Code::kAborted: return 6;
    case Code::kSystem: return 2;
    case Code::kTimeout: return 8;
  }
  return 3;
}

/// Copies the members that both kinds of activity have.
void DescribeCalls(RankState& state, const auto& activity) {
  state.operations = activity.operations;
  state.calls = TalliesOf(activity.counts);
  state.waits_for = activity.waits_for;
  state.last = DecodeCall(activity.call);
  state.inside = state.waits_for.has_value();
}

/// Adds the states of a peer in other communicators. `state` describes the peer.
void AddOthers(const RankState& state, const std::vector<bootstrap::GroupActivity>& others,
               std::vector<watch::ReportedState>& told) {
  for (const bootstrap::GroupActivity& one : others) {
    watch::ReportedState& its = told.emplace_back();
    its.communicator = fmt::format("{:016x}", one.communicator);
    its.ranks = one.ranks;
    its.state = {.rank = one.rank, .host = state.host, .pid = state.pid};
    DescribeCalls(its.state, one);
  }
}

void Describe(RankState& state, const Control::Answer& answer) {
  using Reachability = Control::Reachability;
  switch (answer.presence) {
    case Reachability::kSilent: state.reach = RankState::Reach::kSilent; break;
    case Reachability::kLeft: state.reach = RankState::Reach::kLeft; break;
    case Reachability::kAbsent: state.reach = RankState::Reach::kGone; break;
    case Reachability::kHere: state.reach = RankState::Reach::kHere; break;
  }
  DescribeCalls(state, answer.activity);
  state.slow_sends = answer.activity.slow_sends;
}

}  // namespace

void Control::Shared::RegisterWatched(const Process& process, Rank rank, std::uint32_t ranks) {
  doing.set_rank(rank);
  const std::lock_guard lock(mutex);
  about.rank = Index(rank);
  about.ranks = ranks;
  about.host = process.host().name;
  about.host_hash = fmt::format("{:016x}", process.facts().host_hash);
  about.pid = process.host().pid;
  dump_dir = process.settings().dump_dir;
}

void Control::Shared::SetName(std::uint64_t its_name) {
  name.store(its_name, std::memory_order_relaxed);
  const std::lock_guard lock(mutex);
  about.communicator = fmt::format("{:016x}", its_name);
}

std::optional<bootstrap::GroupActivity> Control::Shared::CurrentActivity() const {
  if (!formed.load(std::memory_order_acquire) || failed.load(std::memory_order_acquire))
    return std::nullopt;
  bootstrap::GroupActivity told{.communicator = name.load(std::memory_order_relaxed)};
  FillCalls(told);
  const std::lock_guard lock(mutex);
  told.rank = about.rank;
  told.ranks = about.ranks;
  return left ? std::nullopt : std::optional(std::move(told));
}

std::vector<SlowSend> Control::Shared::SlowSends() const {
  std::shared_ptr<const transport::SendQueues> queues;
  {
    const std::lock_guard lock(mutex);
    queues = send_queues;
  }
  return queues ? queues->Slow() : std::vector<SlowSend>();
}

watch::RankTrace Control::Shared::Trace(std::string reason) const {
  watch::RankTrace trace;
  {
    const std::lock_guard lock(mutex);
    trace = about;
    if (failure) trace.failure = failure->text;
  }
  trace.reason = std::move(reason);
  trace.slow_sends = SlowSends();
  trace.done = doing.done();
  if (const std::int64_t rank = doing.waits_for; rank >= 0)
    trace.waits_for = static_cast<std::uint32_t>(rank);
  trace.operations = doing.Last();
  // Computed from the list, which lacks operations that began meanwhile.
  trace.begun = trace.operations.empty() ? trace.done : trace.operations.back().number + 1;
  trace.done = std::min(trace.done, trace.begun);
  if (!trace.failure.empty() && trace.done < trace.begun)
    trace.operations.back().progress = watch::OperationState::kFailed;
  trace.taken = os::Now();
  trace.taken_unix = os::UnixTime();
  return trace;
}

watch::CommunicatorMetrics Control::Shared::Metrics() const {
  watch::CommunicatorMetrics metrics{.failed = failed.load(std::memory_order_relaxed),
                                     .counts = doing.counts()};
  const std::uint64_t done = doing.done();
  metrics.in_progress = doing.begun() - done;
  const std::lock_guard lock(mutex);
  metrics.communicator = about.communicator;
  metrics.rank = about.rank;
  metrics.ranks = about.ranks;
  return metrics;
}

void Control::Shared::DumpFailure() {
  const std::lock_guard lock(dump_mutex);
  // The service thread may write before the rank's thread has recorded its last operation.
  if (dump_dir.empty() || dumped == doing.begun()) return;
  const watch::RankTrace trace = Trace("error");
  if (trace.failure.empty()) return;
  dumped = trace.begun;
  // An error here must not hide the cause of the communicator's failure.
  static_cast<void>(os::ReplaceFile(dump_dir + "/" + FileNameOf(trace), ToJson(trace)).ok());
}

RankState Control::Shared::OwnState() const {
  const std::uint64_t done = doing.done();
  const auto last = doing.Last(1);
  RankState state{
      .operations = doing.operations, .calls = TalliesOf(doing.calls()), .slow_sends = SlowSends()};
  if (const std::int64_t rank = doing.waits_for; rank >= 0)
    state.waits_for = static_cast<std::uint32_t>(rank);
  if (!last.empty()) {
    state.last = last.front();
    state.inside = state.last->number >= done;
    const Instant from = state.inside ? state.last->began : state.last->ended;
    if (from > Instant(0)) state.since = std::max(os::Now() - from, Instant(0));
  }
  if (!state.inside) state.waits_for.reset();
  const std::lock_guard lock(mutex);
  state.rank = about.rank;
  state.host = about.host;
  state.pid = about.pid;
  state.forming = !formed.load(std::memory_order_acquire);
  state.recovery = recovery;
  if (failure) {
    state.failure = failure->text;
    state.result = ResultOf(failure->code);
  }
  return state;
}

// `this` outlives the call, because the process holds it. The shared member finds it by its group.
void Control::Shared::Look(std::shared_ptr<StatusGathering> gathering, std::size_t part,
                           bool asks_peers) {
  shared_member->driver->Post([self = shared_from_this(), gathering = std::move(gathering), part,
                               asks_peers] { self->GatherStatusNow(gathering, part, asks_peers); });
}

void Control::Shared::GatherStatusNow(const std::shared_ptr<StatusGathering>& gathering,
                                      std::size_t part, bool asks_peers) {
  RankState state = OwnState();
  const bool member_stands = !shared_member->lost && shared_member->users.contains(group) &&
                             !shared_member->member->Finished();
  if (state.forming && member_stands) state.phase = shared_member->member->Phase(group);
  // One lock after the other, because CollectAnswers takes the gathering's lock inside this one.
  watch::CommunicatorStatus known{.self = state};
  {
    const std::lock_guard lock(mutex);
    known.communicator = about.communicator;
    known.ranks = about.ranks;
    if (asks_peers && roster)
      known.peers = PeersIn(*roster, about.rank, RankState::Reach::kUnknown);
    // The origin is a rank of the world. Other groups number their ranks differently.
    if (failure && failure->code == Code::kPeerLost && group == bootstrap::kWorld)
      for (RankState& peer : known.peers)
        if (peer.rank == failure->origin) peer.reach = RankState::Reach::kSilent;
  }
  gathering->Set(part, [&](watch::CommunicatorStatus& status) { status = std::move(known); });
  if (asks_peers && member_stands && !state.forming && state.failure.empty())
    QueryPeers(gathering, part);
  else
    gathering->Done();
}

void Control::Shared::QueryPeers(std::shared_ptr<StatusGathering> gathering, std::size_t part) {
  const bootstrap::Roster& members = shared_member->member->roster(group);
  PeerInquiry inquiry{.gathering = std::move(gathering), .part = part};
  std::vector<RankState> peers = PeersIn(members, about.rank, RankState::Reach::kSilent);
  for (const RankState& peer : peers) {
    inquiry.unanswered.insert(peer.rank);
    shared_member->member->Ask(Rank{peer.rank}, os::SocketDriver::Now(), group);
  }
  inquiry.gathering->Set(part, [&](auto& status) { status.peers = std::move(peers); });
  if (inquiry.unanswered.empty()) return inquiry.gathering->Done();
  // The senders of the oldest inquiries have given up.
  constexpr std::size_t kInquiriesMax = 32;
  if (inquiries.size() >= kInquiriesMax) inquiries.erase(inquiries.begin());
  inquiries.push_back(std::move(inquiry));
  shared_member->driver->RequestTick(shared_member->id);
}

// The caller holds the lock, as for Look.
void Control::Shared::CollectAnswers(bootstrap::Member& member) {
  std::map<std::uint32_t, Answer> answers;
  for (const PeerInquiry& inquiry : inquiries)
    for (const std::uint32_t rank : inquiry.unanswered) {
      if (answers.contains(rank)) continue;
      auto one = asked == Rank{rank} && answer ? answer : AnswerOf(member, Rank{rank});
      if (!one) continue;
      if (asked == Rank{rank} && !answer) answer = one;
      answers.emplace(rank, *std::move(one));
    }
  for (PeerInquiry& inquiry : inquiries)
    for (const auto& [rank, its] : answers) {
      if (inquiry.unanswered.erase(rank) == 0) continue;
      inquiry.gathering->Set(inquiry.part, [&, rank = rank](watch::CommunicatorStatus& status) {
        const auto peer = std::ranges::find(status.peers, rank, &RankState::rank);
        if (peer == status.peers.end()) return;
        Describe(*peer, its);
        AddOthers(*peer, its.activity.others, status.told);
      });
      if (inquiry.unanswered.empty()) inquiry.gathering->Done();
    }
  std::erase_if(inquiries, [](const PeerInquiry& inquiry) { return inquiry.unanswered.empty(); });
}

}  // namespace ringlet::comm
