#include "tool/sim/sim_reform_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "os/clock.hpp"
#include "tool/sim/sim_run.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

using bootstrap::GroupId;
using bootstrap::kWorld;

constexpr GroupId kFirstAttempt = 1;
constexpr std::uint64_t kEventsOfRecovery = 10'000;  // at a time

// Returns `count` of the numbers below `limit`, ascending.
std::vector<std::uint32_t> Draw(std::uint32_t count, std::uint32_t limit, Prng& prng) {
  std::vector<std::uint32_t> all(limit);
  std::iota(all.begin(), all.end(), 0u);
  for (std::uint32_t i = 0; i < count; ++i) std::swap(all[i], all[i + prng.Below(limit - i)]);
  all.resize(count);
  std::ranges::sort(all);
  return all;
}

// The user of one rank. After a failure it reforms the last group that worked, until a group works.
struct SurvivorUser {
  bool dead = false, left_out = false, works = false;
  GroupId group = kWorld;               // the last group that worked
  std::optional<GroupId> attempt = {};  // the group that it is forming
  std::vector<GroupId> failed = {};     // attempts that it has not left yet
  std::uint32_t attempts = 0;
  Instant told{0}, agreed{0};
  sim::Traffic before = {};  // the deaths
};

class Recovery {
 public:
  Recovery(SimWorld& world, std::uint32_t later_deaths, Prng& prng)
      : world_(&world), later_deaths_(later_deaths), prng_(&prng), users_(world.size()) {}

  void Run(const std::vector<std::uint32_t>& victims, Instant limit,
           const std::function<void()>& on_progress);
  SimReformRow Row() const;

 private:
  sim::Network& network() const { return world_->network(); }
  const bootstrap::Member& MemberAt(std::uint32_t rank) const { return world_->member(rank); }
  void Kill(std::uint32_t rank);
  void After(std::uint32_t rank);
  bool Advance(SurvivorUser& user, bootstrap::Member& member);
  bool Begin(SurvivorUser& user, bootstrap::Member& member);
  void OnTold(SurvivorUser& user);
  void MarkWorking(SurvivorUser& user, bool works);
  void HaltIfOver() {
    if (working_ + left_out_ + dead_ == world_->size()) network().Halt();
  }

  SimWorld* world_;
  std::uint32_t later_deaths_;
  Prng* prng_;
  std::vector<SurvivorUser> users_;
  std::uint32_t dead_ = 0, left_out_ = 0, working_ = 0;
  Instant begin_{0};
  std::uint64_t events_before_ = 0;
  std::string wrong_;
};

void Recovery::Run(const std::vector<std::uint32_t>& victims, Instant limit,
                   const std::function<void()>& on_progress) {
  begin_ = network().now();
  events_before_ = network().events();
  for (std::uint32_t rank = 0; rank < world_->size(); ++rank)
    users_[rank].before = network().traffic(world_->NodeOfRank(rank));
  for (const std::uint32_t victim : victims) Kill(victim);
  network().Observe([this](sim::NodeId node) {
    if (!world_->IsRoot(node)) After(world_->RankOf(node));
  });
  const Instant until = begin_ - sim::Network::kOrigin + limit;
  while (!network().Run(until, kEventsOfRecovery)) on_progress();
}

void Recovery::Kill(std::uint32_t rank) {
  SurvivorUser& user = users_[rank];
  if (user.dead || user.left_out) return;
  MarkWorking(user, false);
  user.dead = true;
  ++dead_;
  HaltIfOver();
  network().Kill(world_->NodeOfRank(rank), network().now() - sim::Network::kOrigin);
}

void Recovery::After(std::uint32_t rank) {
  SurvivorUser& user = users_[rank];
  if (user.dead || user.left_out) return;
  const sim::NodeId node = world_->NodeOfRank(rank);
  auto& member = static_cast<bootstrap::Member&>(network().machine(node));
  bool commanded = false;
  while (Advance(user, member)) commanded = true;
  // A rank that left too early might not pass the failure on.
  std::erase_if(user.failed, [&](GroupId group) {
    if (member.AwaitsFailureAnswers(group)) return false;
    member.Leave(group);
    return commanded = true;
  });
  if (commanded) network().RequestTick(node, network().now());
}

// Returns true if it has given the member a command.
bool Recovery::Advance(SurvivorUser& user, bootstrap::Member& member) {
  if (user.left_out) return false;
  if (!user.attempt) return member.failure(user.group) && Begin(user, member);
  if (const auto& failure = member.failure(*user.attempt)) {
    if (failure->code != Code::kPeerLost && wrong_.empty()) wrong_ = failure->text;
    user.failed.push_back(*std::exchange(user.attempt, std::nullopt));
    return Begin(user, member);
  }
  if (!member.TakeTable(*user.attempt)) return false;
  user.group = *std::exchange(user.attempt, std::nullopt);
  user.agreed = network().now() - begin_;
  MarkWorking(user, true);
  return false;
}

bool Recovery::Begin(SurvivorUser& user, bootstrap::Member& member) {
  MarkWorking(user, false);
  OnTold(user);
  const GroupId attempt = kFirstAttempt + user.attempts;
  const auto lost = member.Reform(attempt, user.group, network().now());
  if (!lost.ok()) {
    if (lost.error().code != Code::kPeerLost && wrong_.empty()) wrong_ = lost.error().message;
    user.left_out = true;
    ++left_out_;
    HaltIfOver();
    return false;
  }
  ++user.attempts;
  user.attempt = attempt;
  member.Gather(true, {}, attempt);
  return true;
}

void Recovery::OnTold(SurvivorUser& user) {
  if (user.told != Instant(0)) return;
  user.told = network().now() - begin_;
  while (later_deaths_ > 0 && dead_ + left_out_ + 1 < world_->size()) {
    const auto victim = static_cast<std::uint32_t>(prng_->Below(world_->size()));
    if (users_[victim].dead || users_[victim].left_out || &users_[victim] == &user) continue;
    Kill(victim);
    --later_deaths_;
  }
}

void Recovery::MarkWorking(SurvivorUser& user, bool works) {
  if (user.works == works) return;
  user.works = works;
  working_ += works ? 1u : -1u;
  HaltIfOver();
}

SimReformRow Recovery::Row() const {
  SimReformRow row{.ranks = world_->size(), .hosts = world_->hosts(), .died = dead_};
  row.left_out = left_out_;
  row.events = network().events() - events_before_;
  row.wrong = wrong_;
  std::map<GroupId, std::uint32_t> groups;  // the number of ranks in each
  for (std::uint32_t rank = 0; rank < world_->size(); ++rank) {
    const SurvivorUser& user = users_[rank];
    if (user.dead) continue;
    const sim::Traffic& traffic = network().traffic(world_->NodeOfRank(rank));
    row.connections += traffic.dialled - user.before.dialled;
    row.messages_max = std::max<std::uint64_t>(
        row.messages_max, traffic.messages_received - user.before.messages_received);
    row.bytes_max = std::max(row.bytes_max, traffic.bytes_received - user.before.bytes_received);
    if (user.left_out) continue;
    row.attempts = std::max(row.attempts, user.attempts);
    row.told = std::max(row.told, user.told);
    row.agreed = std::max(row.agreed, user.agreed);
    if (!user.works) {
      ++row.waiting;
      continue;
    }
    if (MemberAt(rank).roster(user.group).size() == row.ranks - row.died - row.left_out)
      row.reformed = std::max(row.reformed, ++groups[user.group]);
  }
  return row;
}

}  // namespace

Result<std::vector<std::uint32_t>> FirstToDie(const SimDeaths& deaths, const SimWorld& world,
                                              Prng& prng) {
  const bool hosts = deaths.which == SimDeaths::Which::kHosts;
  const std::uint32_t all = hosts ? world.hosts() : world.size();
  const auto count = deaths.share == 0
                         ? deaths.count
                         : static_cast<std::uint32_t>(std::lround(deaths.share * all));
  std::vector<std::uint32_t> victims(std::min(count, all));
  std::iota(victims.begin(), victims.end(), 0u);
  if (deaths.which != SimDeaths::Which::kFirst)
    victims = Draw(static_cast<std::uint32_t>(victims.size()), all, prng);
  if (hosts) {
    const std::vector<std::uint32_t> drawn = std::exchange(victims, {});
    for (std::uint32_t rank = 0; rank < world.size(); ++rank)
      if (std::ranges::binary_search(drawn, world.host(rank))) victims.push_back(rank);
  }
  const std::uint64_t dead = std::uint64_t{victims.size()} + deaths.later;
  if (!victims.empty() && dead < world.size()) return victims;
  return Error{Code::kInvalidArgument,
               fmt::format("{} of {} would die: at least one must die, and one remain", dead,
                           Counted(world.size(), "rank"))};
}

Result<SimReformRow> RunReform(SimWorld& world, const SimOptions& options, const SimDeaths& deaths,
                               const std::function<void()>& on_progress) {
  Prng prng(options.seed * 4 + 2);
  RINGLET_TRY_ASSIGN(const std::vector<std::uint32_t> victims, FirstToDie(deaths, world, prng));
  {
    SimWatch watch(world, options);
    RunToEnd(world, options, on_progress);
    RINGLET_TRY(SimVerdict(options, watch.Row()));
  }
  const Instant cpu = os::ProcessCpuTime();
  Recovery recovery(world, deaths.later, prng);
  recovery.Run(victims, options.timeout, on_progress);
  SimReformRow row = recovery.Row();
  row.cpu = os::ProcessCpuTime() - cpu;
  return row;
}

Status ReformVerdict(const SimReformRow& row) {
  const std::uint32_t survivors = row.ranks - row.died;
  if (row.wrong.empty() && row.reformed == survivors) return Ok();
  return Error{Code::kProtocol,
               fmt::format("{} of {} are in one group; left out: {}; still waiting: {}{}",
                           row.reformed, Counted(survivors, "survivor"), row.left_out, row.waiting,
                           row.wrong.empty() ? "" : "; " + row.wrong)};
}

}  // namespace ringlet::cli
