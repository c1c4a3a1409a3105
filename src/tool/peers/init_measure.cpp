#include "tool/peers/init_measure.hpp"

#include <algorithm>

#include "base/settings/agreement.hpp"
#include "comm/establish/stages.hpp"
#include "os/clock.hpp"
#include "os/process/random.hpp"
#include "rendezvous/invitation.hpp"
#include "transport/wireup/listener_set.hpp"

namespace ringlet::cli {
namespace {

// The other processes wait while the first one runs a peer.
constexpr std::chrono::hours kTeamTimeout(1);

double Milliseconds(Instant time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// Returns data as long as the peer info of a rank that also opens links.
comm::PeerInfo PeerInfoOf(const comm::Process& process, const transport::ListenerSet& endpoint,
                          std::uint32_t rank) {
  return {.host_hash = process.facts().host_hash,
          .process_hash = process.facts().process_hash,
          .network_namespace = process.facts().NetNamespaceOf(endpoint),
          .settings_digest = AgreementDigest(process.settings()),
          .device = rank,
          .tcp = endpoint.tcp,
          .unix_socket = {}};
}

Result<comm::Control::Pending> BeginJoinAt(const std::shared_ptr<comm::Process>& process,
                                           const std::vector<comm::Invitation>& invitations,
                                           const std::vector<Address>& addresses,
                                           std::uint32_t rank, std::uint32_t size) {
  const comm::Config config{.rank = rank, .size = size};
  comm::Listeners listeners;
  RINGLET_TRY_ASSIGN(listeners.control, transport::ListenerSet::Open(
                                            {.interfaces = addresses, .unix_listener = false}));
  comm::OpenNodeLeaderListener(*process, invitations.front(), config, listeners);
  RINGLET_TRY_ASSIGN(auto member,
                     comm::MemberConfigOf(*process, config, invitations, listeners,
                                          PeerInfoOf(*process, listeners.control, rank)));
  return comm::Control::Begin(process, {.member = std::move(member),
                                        .listeners = std::move(listeners.control.listeners),
                                        .operation_timeout = kTeamTimeout});
}

void Include(JoinShare& share, const bootstrap::Milestones& one, bool is_first) {
  if (is_first) {
    share.first_roster = one.roster;
    share.first_standing = one.standing;
  }
  share.first_roster = std::min(share.first_roster, one.roster);
  share.last_roster = std::max(share.last_roster, one.roster);
  share.first_standing = std::min(share.first_standing, one.standing);
  share.last_standing = std::max(share.last_standing, one.standing);
}

}  // namespace

Bytes Encode(const JoinShare& share) {
  Writer out;
  for (const Instant time : {share.begun, share.first_roster, share.last_roster,
                             share.first_standing, share.last_standing, share.cpu})
    out.U64(static_cast<std::uint64_t>(time.count()));
  out.U64(share.connections).U64(share.bytes).U64(share.system_calls);
  return out.Take();
}

Result<JoinShare> DecodeJoinShare(View bytes) {
  Reader in(bytes);
  JoinShare share;
  for (Instant* const time : {&share.begun, &share.first_roster, &share.last_roster,
                              &share.first_standing, &share.last_standing, &share.cpu})
    *time = Instant(static_cast<std::int64_t>(in.U64()));
  share.connections = in.U64();
  share.bytes = in.U64();
  share.system_calls = in.U64();
  if (!in.AtEnd()) return Error{Code::kProtocol, "a process of this bench sent an invalid report"};
  return share;
}

Repetition Combine(const std::vector<JoinShare>& shares, std::uint32_t ranks) {
  JoinShare all = shares.front();
  for (const JoinShare& one : std::span(shares).subspan(1)) {
    all.begun = std::min(all.begun, one.begun);
    all.first_roster = std::min(all.first_roster, one.first_roster);
    all.last_roster = std::max(all.last_roster, one.last_roster);
    all.first_standing = std::min(all.first_standing, one.first_standing);
    all.last_standing = std::max(all.last_standing, one.last_standing);
    all.cpu += one.cpu;
    all.connections += one.connections;
    all.bytes += one.bytes;
    all.system_calls += one.system_calls;
  }
  // In a ring, a rank may stand before another rank has processed its roster.
  const Instant connected = std::max(all.first_standing, all.last_roster);
  const auto per_rank = [&](std::uint64_t sum) { return static_cast<double>(sum) / ranks; };
  return {.total_ms = Milliseconds(all.last_standing - all.begun),
          .phases = {.check_in = Milliseconds(all.first_roster - all.begun),
                     .roster = Milliseconds(all.last_roster - all.first_roster),
                     .connect = Milliseconds(connected - all.last_roster),
                     .go = Milliseconds(std::max(all.last_standing - connected, Instant(0)))},
          .cpu_ms = Milliseconds(all.cpu),
          .connections = per_rank(all.connections),
          .bytes = per_rank(all.bytes),
          .system_calls = per_rank(all.system_calls)};
}

Result<comm::Control::Pending> BeginJoin(const std::shared_ptr<comm::Process>& process,
                                         const UniqueId& id, std::uint32_t rank,
                                         std::uint32_t size) {
  RINGLET_TRY_ASSIGN(auto invitation, rendezvous::Decode(id));
  RINGLET_TRY_ASSIGN(const auto addresses, process->host_reader().ReachableAddresses());
  return BeginJoinAt(process, {std::move(invitation)}, addresses, rank, size);
}

Baseline ReadBaseline(comm::Process& process) {
  return {.counters = process.services().ReadCounters(), .cpu = os::ProcessCpuTime()};
}

Result<Joined> JoinAll(const std::shared_ptr<comm::Process>& process,
                       const std::vector<UniqueId>& ids, const RankBlock& block, std::uint32_t size,
                       const Baseline& before) {
  Joined joined;
  joined.share.begun = os::Now();
  std::vector<comm::Invitation> invitations;
  for (const UniqueId& id : ids) {
    RINGLET_TRY_ASSIGN(auto invitation, rendezvous::Decode(id));
    invitations.push_back(std::move(invitation));
  }
  RINGLET_TRY_ASSIGN(const auto addresses, process->host_reader().ReachableAddresses());
  std::vector<comm::Control::Pending> pending;
  pending.reserve(block.count);
  for (std::uint32_t i = 0; i < block.count; ++i) {
    RINGLET_TRY_ASSIGN(auto one,
                       BeginJoinAt(process, invitations, addresses, block.first + i, size));
    pending.push_back(std::move(one));
  }
  for (auto& one : pending) {
    RINGLET_TRY_ASSIGN(auto control, one.Finish({}));
    Include(joined.share, control->milestones(), joined.controls.empty());
    joined.controls.push_back(std::move(control));
  }
  const Baseline after = ReadBaseline(*process);
  joined.share.cpu = after.cpu - before.cpu;
  joined.share.connections = after.counters.lines_accepted - before.counters.lines_accepted;
  joined.share.bytes = after.counters.bytes_sent - before.counters.bytes_sent;
  joined.share.system_calls = after.counters.system_calls - before.counters.system_calls;
  return joined;
}

Result<Team> Team::Join(const std::shared_ptr<comm::Process>& process, const UniqueId& id,
                        std::uint32_t index, std::uint32_t size) {
  Team team;
  RINGLET_TRY_ASSIGN(auto pending, BeginJoin(process, id, index, size));
  RINGLET_TRY_ASSIGN(team.control_, pending.Finish({}));
  team.index_ = index;
  return team;
}

Result<std::vector<UniqueId>> Team::Agree(const std::vector<UniqueId>& own) {
  if (!control_) return own;
  Writer mine;
  for (const UniqueId& id : own) mine.Raw(id.bytes);
  RINGLET_TRY_ASSIGN(const auto table, control_->AllGather(mine.Take()));
  std::vector<UniqueId> ids;
  for (std::uint32_t index = 0; index < table.size(); ++index) {
    Reader in(table.At(Rank{index}));
    while (in.remaining() >= UniqueId::kBytes)
      std::ranges::copy(in.Raw(UniqueId::kBytes), ids.emplace_back().bytes.begin());
  }
  return ids;
}

Result<std::vector<JoinShare>> Team::Gather(Result<JoinShare> share) {
  RINGLET_TRY_ASSIGN(const JoinShare own, control_ ? control_->Share(std::move(share)) : share);
  if (!control_) return std::vector{own};
  RINGLET_TRY_ASSIGN(const auto table, control_->AllGather(Encode(own)));
  std::vector<JoinShare> shares;
  for (std::uint32_t index = 0; index < table.size(); ++index) {
    RINGLET_TRY_ASSIGN(const JoinShare one, DecodeJoinShare(table.At(Rank{index})));
    shares.push_back(one);
  }
  return shares;
}

Status Team::Barrier() {
  return control_ ? control_->Barrier() : Ok();
}

Result<Repetition> Repeat(const std::shared_ptr<comm::Process>& process, Team& team,
                          const InitHead& head) {
  // Creates each root in the process of its first rank, so that the ids are in rank order.
  const RankBlock block = BlockOf(team.index(), head);
  std::vector<UniqueId> own;
  for (std::uint32_t root = 0; root < head.roots; ++root) {
    const std::uint32_t first = bootstrap::RanksOfRoot({root, head.roots}, head.ranks).first;
    if (first - block.first >= block.count) continue;
    RINGLET_TRY_ASSIGN(const UniqueId id, comm::CreateUniqueId(process));
    own.push_back(id);
  }
  RINGLET_TRY_ASSIGN(const std::vector<UniqueId> ids, team.Agree(own));
  // Ranks dial the root as soon as any process has passed the barrier, so process 0 reads its
  // counters first. Ranks are dialed only after their check-in.
  Baseline before = ReadBaseline(*process);
  RINGLET_TRY(team.Barrier());
  if (team.index() != 0) before = ReadBaseline(*process);
  auto joined = JoinAll(process, ids, block, head.ranks, before);
  RINGLET_TRY_ASSIGN(const auto shares,
                     team.Gather(joined.ok() ? Result<JoinShare>(joined->share) : joined.error()));
  return Combine(shares, head.ranks);
}

}  // namespace ringlet::cli
