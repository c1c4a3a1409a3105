#include "tool/sim/sim_run.hpp"

#include <algorithm>
#include <map>

namespace ringlet::cli {
namespace {

constexpr std::uint64_t kEventsAtATime = 10'000;
// Maximum number of distinct failures. If every rank reports another one, more are useless.
constexpr std::size_t kTextsMax = 1000;
constexpr std::string_view kItself = "(this rank)";

std::uint64_t BytesOf(const sim::Traffic& traffic) {
  return traffic.bytes_sent + traffic.bytes_received;
}
std::uint64_t BytesOf(const sim::HostTraffic& traffic) {
  return traffic.bytes_sent + traffic.bytes_received;
}

// Removes a rank's own name, so that equal reports of ranks about themselves have equal texts.
std::string WithoutName(std::string text, const std::string& name) {
  if (const std::size_t at = text.find(name); at != std::string::npos)
    text.replace(at, name.size(), kItself);
  return text;
}

}  // namespace

SimWatch::SimWatch(SimWorld& world, const SimOptions& options)
    : world_(&world), faulty_(options.faults.any()), seen_(world.size()) {
  for (std::uint32_t rank = 0; rank < world.size(); ++rank)
    unsettled_ += !world.absent(rank) && !world.doomed(rank);
  world.network().Observe([this](sim::NodeId node) { After(node); });
}

void SimWatch::After(sim::NodeId node) {
  if (!world_->IsRoot(node)) return AfterRank(world_->RankOf(node));
  if (!phases_.checked_in && world_->checked_in() == world_->size())
    phases_.checked_in = world_->network().now() - sim::Network::kOrigin;
}

void SimWatch::AfterRank(std::uint32_t rank) {
  const bootstrap::Member& member = world_->member(rank);
  const Instant now = world_->network().now() - sim::Network::kOrigin;
  StateTimes& seen = seen_[rank];
  if (seen.roster == Instant(0) && member.roster().size() > 0) {
    seen.roster = now;
    if (rosters_++ == 0) phases_.roster_first = now;
    if (rosters_ == world_->size()) phases_.roster_last = now;
  }
  if (seen.standing == Instant(0) && member.standing()) {
    seen.standing = now;
    steps_ = std::max(steps_, world_->network().depth(world_->NodeOfRank(rank)));
    if (standing_++ == 0) phases_.connected = now;
    if (standing_ == world_->size()) phases_.standing = now;
    if (!faulty_) Settle(rank);  // with faults, its state may still change
  }
  if (seen.failed == Instant(0) && member.failure()) {
    seen.failed = now;
    ++failed_;
    if (faulty_ || seen.standing == Instant(0)) Settle(rank);
  }
}

void SimWatch::Settle(std::uint32_t rank) {
  if (world_->absent(rank) || world_->doomed(rank)) return;
  if (--unsettled_ == 0) world_->network().Halt();
}

SimRow SimWatch::Row() {
  SimRow row;
  row.ranks = world_->size();
  row.hosts = world_->hosts();
  row.steps = steps_;
  row.phases = phases_;
  row.events = world_->network().events();
  row.trace = world_->network().trace();
  CountTraffic(row);
  CountOutcomes(row);
  return row;
}

void SimWatch::CountTraffic(SimRow& row) const {
  sim::Network& network = world_->network();
  for (sim::NodeId node = 0; node < network.nodes(); ++node) {
    const sim::Traffic& traffic = network.traffic(node);
    row.bytes += traffic.bytes_sent;
    const bool root = world_->IsRoot(node);
    if (root && BytesOf(traffic) > BytesOf(row.root)) row.root = traffic;
    if (root || BytesOf(traffic) <= BytesOf(row.busiest_rank)) continue;
    row.busiest_rank = traffic;
    row.busiest_rank_index = world_->RankOf(node);
  }
  for (sim::HostId host = 0; host < network.hosts(); ++host) {
    const sim::HostTraffic& traffic = network.host_traffic(host);
    if (BytesOf(traffic) <= BytesOf(row.busiest_host)) continue;
    row.busiest_host = traffic;
    row.busiest_host_index = host;
  }
}

void SimWatch::CountOutcomes(SimRow& row) const {
  std::map<std::string, SimFailure> by_text;
  for (std::uint32_t rank = 0; rank < world_->size(); ++rank) {
    const bootstrap::Member& member = world_->member(rank);
    if (!member.failure()) {
      const bool alive = world_->network().alive(world_->NodeOfRank(rank));
      ++(!alive                 ? row.killed
         : world_->absent(rank) ? row.absent
         : member.standing()    ? row.standing
                                : row.waiting);
      continue;
    }
    ++row.failed;
    const std::string text = WithoutName(member.failure()->text, world_->Describe(rank));
    if (by_text.size() >= kTextsMax && !by_text.contains(text)) {
      ++row.failures_unsaid;
      continue;
    }
    const Instant when = seen_[rank].failed;
    SimFailure& failure = by_text.try_emplace(text, SimFailure{text, {}, when, when}).first->second;
    failure.ranks.push_back(rank);
    failure.first = std::min(failure.first, when);
    failure.last = std::max(failure.last, when);
  }
  for (auto& [text, failure] : by_text) row.failures.push_back(std::move(failure));
  std::ranges::stable_sort(row.failures, std::ranges::greater{},
                           [](const SimFailure& failure) { return failure.ranks.size(); });
}

void RunToEnd(SimWorld& world, const SimOptions& options,
              const std::function<void()>& on_progress) {
  while (!world.network().Run(options.Limit(), kEventsAtATime)) on_progress();
}

}  // namespace ringlet::cli
