// Ranks die, and the others form a smaller group without them on their connections, while more die.
// Each run checks that a failed group names a dead rank, that all living ranks learn of the failure
// soon, and that the group without the dead ranks forms. RINGLET_SIM_SEEDS=first:count runs other
// seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "world.hpp"

namespace ringlet::sim {
namespace {

using bootstrap::GroupId;
using bootstrap::kWorld;
using bootstrap::Member;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr GroupId kFirstGroup = 1000;
constexpr Instant kSoon = seconds(1);
constexpr int kGathers = 3;  // per group, before it counts as formed

// The user of one rank. After a failure of the world, it forms a group without the first victim.
// After that group's failure it forms one without the first two, and so on.
class ShrinkingRank final : public Machine {
 public:
  struct Attempt {
    Instant formed{0}, failed{0}, done{0};
    std::uint32_t origin = bootstrap::kNoOrigin;  // in the world's numbers
    std::string text = {};
  };
  /// \param victims  in order of death
  /// \param pauses   between a failure and the next attempt
  ShrinkingRank(bootstrap::MemberConfig config, std::vector<std::uint32_t> victims,
                std::vector<Instant> pauses)
      : self_(Index(config.rank)),
        size_(config.size),
        victims_(std::move(victims)),
        pauses_(std::move(pauses)),
        member_(std::move(config)) {}

  void Handle(const Event& event, Instant now) override {
    member_.Handle(event, now);
    Play(now);
    while (auto action = member_.PollAction()) Emit(std::move(*action));
  }
  std::optional<Instant> Deadline() const override {
    auto deadline = member_.Deadline();
    if (resume_ != Instant(0)) deadline = deadline ? std::min(*deadline, resume_) : resume_;
    return deadline;
  }
  bool Finished() const override { return member_.Finished(); }
  bool Accepting() const override { return member_.Accepting(); }

  const std::vector<Attempt>& attempts() const { return attempts_; }
  const Member& member() const { return member_; }
  const std::string& wrong() const { return wrong_; }

 private:
  void Play(Instant now) {
    if (!member_.standing() || (attempts_.empty() && !member_.failure())) return;
    for (bool again = true; again && attempts_.size() <= victims_.size();) again = Advance(now);
    LeaveThoseThatAreTold();
  }

  bool Advance(Instant now) {
    const bool between = attempts_.empty() || attempts_.back().failed != Instant(0);
    if (!between) return Watch(now);
    if (attempts_.size() == victims_.size()) return false;  // the last one has failed
    if (resume_ == Instant(0)) resume_ = now + pauses_[attempts_.size()];
    if (now < resume_) return false;
    resume_ = Instant(0);
    attempts_.push_back({.formed = now});
    ranks_.clear();
    for (std::uint32_t rank = 0; rank < size_; ++rank)
      if (std::find(victims_.begin(), victims_.begin() + Count(), rank) ==
          victims_.begin() + Count())
        ranks_.push_back(rank);
    if (!member_.Form(group(), kWorld, ranks_, now).ok()) wrong_ = "it could not form the group";
    gathered_ = 0;
    member_.Gather(false, PayloadOf(self_, 0), group());
    return true;
  }

  bool Watch(Instant now) {
    Attempt& attempt = attempts_.back();
    if (const auto& failure = member_.failure(group())) {
      attempt.failed = now;
      attempt.text = failure->text;
      if (failure->origin < ranks_.size()) attempt.origin = ranks_[failure->origin];
      failed_.push_back(group());
      return true;
    }
    if (!member_.TakeTable(group())) return false;
    if (++gathered_ == kGathers) attempt.done = now;
    if (gathered_ < kGathers) member_.Gather(false, PayloadOf(self_, 0), group());
    return gathered_ < kGathers;
  }

  void LeaveThoseThatAreTold() {
    std::erase_if(failed_, [&](GroupId group) {
      const bool told = !member_.AwaitsFailureAnswers(group);
      if (told) member_.Leave(group);
      return told;
    });
  }

  GroupId group() const { return kFirstGroup + attempts_.size(); }
  std::ptrdiff_t Count() const { return static_cast<std::ptrdiff_t>(attempts_.size()); }

  std::uint32_t self_, size_;
  std::vector<std::uint32_t> victims_;
  std::vector<Instant> pauses_;
  Member member_;
  std::vector<Attempt> attempts_;
  std::vector<std::uint32_t> ranks_;  // ranks of the last attempt's group
  int gathered_ = 0;
  Instant resume_{0};
  std::vector<GroupId> failed_;
  std::string wrong_;
};

struct ShrinkJob {
  WorldConfig config;
  std::vector<std::uint32_t> victims;
  std::vector<Instant> deaths;  // after Network::kOrigin
};

WorldConfig ShrinkConfig(std::uint64_t seed, Prng& prng) {
  WorldConfig config;
  config.seed = seed;
  config.size = prng.Chance(0.5) ? (prng.Chance(0.5) ? 8 : 16)
                                 : static_cast<std::uint32_t>(4 + prng.Below(21));
  config.shape = prng.Chance(0.85) ? bootstrap::Shape::kTree : bootstrap::Shape::kRing;
  config.arity = static_cast<std::uint16_t>(1 + prng.Below(8));
  config.conditions.latency_max = Instant(1000u << prng.Below(11));  // 1 us to 1 ms
  config.node_leaders = prng.Chance(0.7);
  return config;
}

ShrinkJob RandomShrinkJob(std::uint64_t seed, Prng& prng) {
  ShrinkJob job;
  job.config = ShrinkConfig(seed, prng);
  const std::uint32_t size = job.config.size;
  const auto count = static_cast<std::size_t>(2 + prng.Below(2));
  const auto take = [&](std::uint32_t victim) {
    if (std::ranges::count(job.victims, victim % size) == 0) job.victims.push_back(victim % size);
  };
  // Often a node leader and its successors.
  const auto leader = static_cast<std::uint32_t>(prng.Below(size) / 4 * 4);
  if (prng.Chance(0.4))
    for (std::uint32_t next = 0; next < count; ++next) take(leader + next);
  while (job.victims.size() < count) take(static_cast<std::uint32_t>(prng.Below(size)));
  Instant when = seconds(2);
  for (std::size_t i = 0; i < count; ++i) {
    job.deaths.push_back(when);
    when += Instant(static_cast<std::int64_t>(prng.Below(std::uint64_t{1000} << prng.Below(16))));
  }
  return job;
}

std::string JudgeAttempt(const ShrinkJob& job, std::size_t number, std::uint32_t rank,
                         const ShrinkingRank::Attempt& attempt, Instant all_formed) {
  const bool last = number + 1 == job.victims.size();
  const std::string who =
      "rank " + std::to_string(rank) + " in attempt " + std::to_string(number + 1);
  if (last)
    return attempt.done != Instant(0) && attempt.failed == Instant(0)
               ? ""
               : who + " formed no group: " + attempt.text;
  if (attempt.failed == Instant(0)) return who + " does not hear of the next death";
  const auto blamed = std::ranges::find(job.victims, attempt.origin) - job.victims.begin();
  const auto place = static_cast<std::size_t>(blamed);
  if (place <= number || place >= job.victims.size() ||
      Network::kOrigin + job.deaths[place] > attempt.failed)
    return who + " blames wrongly: " + attempt.text;
  const Instant due = std::max(all_formed, Network::kOrigin + job.deaths[number + 1]) + kSoon;
  return attempt.failed <= due ? "" : who + " hears of a death late: " + attempt.text;
}

std::string RunShrink(std::uint64_t seed) {
  Prng prng(seed ^ 0x51ed270b9f3c1a77u);
  const ShrinkJob job = RandomShrinkJob(seed, prng);
  World world(job.config);
  std::vector<NodeId> nodes;
  for (std::uint32_t rank = 0; rank < job.config.size; ++rank) {
    std::vector<Instant> pauses;
    for (std::size_t i = 0; i < job.victims.size(); ++i)
      pauses.push_back(prng.Chance(0.1) ? world.RandomTime(seconds(3))
                                        : world.RandomTime(milliseconds(2)));
    const bootstrap::MemberConfig config = world.ConfigOf(rank);
    nodes.push_back(
        world.network().Add(std::make_unique<ShrinkingRank>(config, job.victims, pauses),
                            World::RankAddress(rank), world.RandomTime(milliseconds(50))));
    if (config.speaks) world.network().Listen(nodes.back(), *config.node_leader);
  }
  for (std::size_t i = 0; i < job.victims.size(); ++i)
    world.network().Kill(nodes[job.victims[i]], job.deaths[i]);
  if (!world.network().Run(seconds(30))) return "livelock: the event budget is spent";
  std::map<std::size_t, Instant> all_formed;
  const auto attempts = [&](std::uint32_t rank) -> const std::vector<ShrinkingRank::Attempt>& {
    return static_cast<ShrinkingRank&>(world.network().machine(nodes[rank])).attempts();
  };
  for (const bool judge : {false, true})
    for (std::uint32_t rank = 0; rank < job.config.size; ++rank) {
      if (std::ranges::count(job.victims, rank) > 0) continue;
      for (std::size_t number = 0; number < job.victims.size(); ++number) {
        if (number >= attempts(rank).size())
          return "rank " + std::to_string(rank) + " came to no attempt " +
                 std::to_string(number + 1);
        const auto& attempt = attempts(rank)[number];
        if (!judge) all_formed[number] = std::max(all_formed[number], attempt.formed);
        if (!judge) continue;
        const std::string bad = JudgeAttempt(job, number, rank, attempt, all_formed[number]);
        if (!bad.empty()) return bad;
      }
    }
  return "";
}

TEST(ShrinkSeeds, RanksShrinkTheGroupWhileMoreRanksDie) {
  const auto [first, count] = SeedsToRun(200);
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    ASSERT_EQ(RunShrink(seed), "")
        << "seed " << seed << "; again with RINGLET_SIM_SEEDS=" << seed << ":1";
}

}  // namespace
}  // namespace ringlet::sim
