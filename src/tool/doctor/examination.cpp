#include "tool/doctor/examination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/value/text.hpp"
#include "doctor/judge.hpp"
#include "os/clock.hpp"
#include "os/net/poll.hpp"
#include "os/process/random.hpp"
#include "tool/doctor/agent_command.hpp"

namespace ringlet::cli {
namespace {

using doctor::HostFacts;
using doctor::PairFacts;

constexpr int kClockRounds = 4;
constexpr int kRepeats = 2;
constexpr std::uint32_t kEndpointsTried = 8;
constexpr std::size_t kAloneMax = 32;
constexpr std::size_t kReasonBytesMax = 400;
constexpr std::size_t kNoiseShown = 120;
constexpr Instant kRoundWait = std::chrono::seconds(1);

/// An agent and the known facts of its host.
struct ExaminedHost {
  AgentLine line;
  HostFacts facts = {};
  std::string lost = {};  ///< why the agent no longer takes part; else empty
};

struct Reply {
  std::string line = {};
  Instant sent{0}, came{0};
};

/// One round of commands. Sends at most one to each patient, all at once.
class Round {
 public:
  Round(std::vector<ExaminedHost>& patients, Instant timeout)
      : patients_(patients),
        until_(os::Now() + timeout),
        replies_(patients.size()),
        noises_(patients.size()) {}

  void Ask(std::size_t patient, const AgentCommand& command) {
    replies_[patient] = Reply{.sent = os::Now()};
    const Status sent = patients_[patient].line.Send(ToLine(command), until_);
    if (!sent.ok()) patients_[patient].line.Pump();  // reads the agent's last output
  }

  /// Waits for all answers. A patient that does not answer in time is excluded from later rounds.
  std::vector<std::optional<Reply>> Await() {
    while (os::Now() < until_) {
      for (std::size_t i = 0; i < patients_.size(); ++i)
        if (Awaits(i)) Read(i);
      std::vector<int> watched;
      for (std::size_t i = 0; i < patients_.size(); ++i)
        if (Awaits(i)) patients_[i].line.AddDescriptors(watched);
      if (watched.empty()) break;
      os::PollReadable(watched, std::min<Instant>(until_ - os::Now(), kRoundWait));
    }
    for (std::size_t i = 0; i < patients_.size(); ++i)
      if (Awaits(i) && patients_[i].lost.empty())
        Lose(i, noises_[i].empty()
                    ? "it did not answer in time"
                    : fmt::format("it did not answer in time, but printed {}", Quoted(noises_[i])));
    for (auto& reply : replies_)
      if (reply && reply->line.empty()) reply.reset();
    return std::move(replies_);
  }

 private:
  bool Awaits(std::size_t i) const {
    return replies_[i] && replies_[i]->line.empty() && patients_[i].lost.empty();
  }
  void Lose(std::size_t i, std::string why) { patients_[i].lost = std::move(why); }
  void Read(std::size_t i) {
    AgentLine& line = patients_[i].line;
    line.Pump();
    std::optional<std::string> answer = line.Take();
    // Start-up files of shells may print lines before the agent starts.
    while (answer && !answer->starts_with('{')) {
      noises_[i] = Printable(*answer, kNoiseShown);
      answer = line.Take();
    }
    if (answer) {
      replies_[i]->came = os::Now();
      const std::string failure = FailureIn(*answer);
      if (failure.empty())
        replies_[i]->line = *std::move(answer);
      else
        Lose(i, Printable(failure, kReasonBytesMax));
    } else if (!line.over().empty()) {
      Lose(i, line.over());
    }
  }

  std::vector<ExaminedHost>& patients_;
  Instant until_;
  std::vector<std::optional<Reply>> replies_;
  std::vector<std::string> noises_;  // the last line of each that is not an answer
};

class Examination {
 public:
  Examination(std::vector<AgentLine> lines, const ExaminationOptions& options) : options_(options) {
    for (AgentLine& line : lines) patients_.push_back({.line = std::move(line)});
  }

  Result<doctor::SetFacts> Run() {
    RINGLET_TRY_ASSIGN(const Secret token, os::SecureRandom());
    Look(token);
    MergeRanks();
    SampleClocks();
    Finish();  // lost patients are not numbered
    Reach();
    if (options_.measure) Measure();
    for (const ExaminedHost& patient : patients_)
      if (!patient.lost.empty()) AddSilent(patient);
    return std::move(set_);
  }

 private:
  void Look(const Secret& token) {
    Round round(patients_, options_.timeout);
    for (std::size_t i = 0; i < patients_.size(); ++i)
      round.Ask(i, {.kind = AgentCommand::Order::kLook, .token = token});
    const auto replies = round.Await();
    for (std::size_t i = 0; i < patients_.size(); ++i) {
      if (!replies[i]) continue;
      auto facts = doctor::ParseHostFacts(replies[i]->line);
      if (!facts.ok()) {
        patients_[i].lost = facts.error().message;
        continue;
      }
      patients_[i].facts = *std::move(facts);
      patients_[i].facts.host = Printable(patients_[i].facts.host, kReasonBytesMax);
    }
  }

  /// Merges the ranks of one host into one patient. Keeps the names that the user gave.
  void MergeRanks() {
    std::map<std::string, std::size_t> firsts;
    std::vector<ExaminedHost> hosts;
    for (ExaminedHost& patient : patients_) {
      if (!patient.lost.empty()) {
        AddSilent(patient);
        continue;
      }
      const bool is_rank = patient.line.host().starts_with("rank ");
      if (is_rank) patient.facts.ranks = 1;
      const auto [first, is_new] = firsts.try_emplace(patient.facts.identity, hosts.size());
      if (is_new || !is_rank) {
        if (!is_rank && !patient.line.host().empty()) patient.facts.host = patient.line.host();
        hosts.push_back(std::move(patient));
        continue;
      }
      AddRank(hosts[first->second].facts, patient.facts);
    }
    patients_.swap(hosts);
  }

  static void AddRank(HostFacts& host, const HostFacts& rank) {
    ++host.ranks;
    std::string& mask = host.cpus.usable_mask;
    const std::string& more = rank.cpus.usable_mask;
    mask.resize(std::max(mask.size(), more.size()), '0');
    for (std::size_t i = 0; i < more.size(); ++i)
      if (more[i] == '1') mask[i] = '1';
    if (!mask.empty()) host.cpus.usable = static_cast<std::uint32_t>(std::ranges::count(mask, '1'));
  }

  void SampleClocks() {
    if (patients_.size() < 2) return;
    for (int i = 0; i < kClockRounds; ++i) {
      Round round(patients_, options_.timeout);
      for (std::size_t each = 0; each < patients_.size(); ++each)
        if (patients_[each].lost.empty()) round.Ask(each, {.kind = AgentCommand::Order::kClock});
      const Instant unix_less_now = os::UnixTime() - os::Now();
      const auto replies = round.Await();
      for (std::size_t each = 0; each < patients_.size(); ++each)
        if (replies[each]) TakeClock(patients_[each].facts, *replies[each], unix_less_now, i == 0);
    }
  }

  static void TakeClock(HostFacts& facts, const Reply& reply, Instant unix_less_now, bool first) {
    const auto there = ParseClockAnswer(reply.line);
    if (!there.ok()) return;
    const Instant middle = (reply.sent + reply.came) / 2 + unix_less_now;
    const auto uncertainty = static_cast<std::uint64_t>((reply.came - reply.sent).count() / 2);
    if (!first && uncertainty >= facts.clock_uncertainty_ns) return;
    facts.clock_uncertainty_ns = uncertainty;
    facts.clock_ahead_ns = static_cast<std::int64_t>(*there) - middle.count();
  }

  void AddSilent(const ExaminedHost& patient) {
    set_.silent.push_back({.host = patient.line.host().empty() ? "this host" : patient.line.host(),
                           .why = patient.lost});
  }

  void Finish() {
    std::vector<ExaminedHost> well;
    for (ExaminedHost& patient : patients_)
      if (patient.lost.empty())
        well.push_back(std::move(patient));
      else
        AddSilent(patient);
    patients_.swap(well);
    for (const ExaminedHost& patient : patients_) set_.hosts.push_back(patient.facts);
  }

  /// Returns the first kEndpointsTried endpoints of host `to` as targets.
  std::vector<ProbeTarget> TargetsOf(std::uint32_t from, std::uint32_t to) const {
    std::vector<ProbeTarget> targets;
    std::uint32_t nic = 0;
    for (const std::string& endpoint : set_.hosts[to].endpoints) {
      if (nic == kEndpointsTried) break;
      const auto address = ParseAddress(endpoint);
      if (address.ok() && address->kind != Address::Kind::kUnix)
        targets.push_back({.from = from, .to = to, .nic = nic, .address = *address});
      ++nic;
    }
    return targets;
  }

  Instant WaitFor(std::size_t targets) const {
    // A probe makes up to three connections, each with its own timeout.
    return options_.timeout + 3 * static_cast<std::int64_t>(targets) * options_.pair_timeout;
  }

  std::vector<PairFacts> Collect(Round& round) {
    std::vector<PairFacts> all;
    const auto replies = round.Await();
    for (std::size_t i = 0; i < replies.size(); ++i) {
      if (!replies[i]) continue;
      auto pairs =
          doctor::ParsePairs(replies[i]->line, static_cast<std::uint32_t>(set_.hosts.size()));
      if (!pairs.ok()) {
        patients_[i].lost = pairs.error().message;
        continue;
      }
      for (PairFacts& pair : *pairs) {
        pair.why = Printable(pair.why, kReasonBytesMax);
        pair.address = Printable(pair.address, kReasonBytesMax);
        if (pair.from == i) all.push_back(std::move(pair));
      }
    }
    return all;
  }

  AgentCommand Probe(AgentCommand::Order kind, std::vector<ProbeTarget> targets) const {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(options_.pair_timeout);
    return {.kind = kind,
            .targets = std::move(targets),
            .timeout_ms = static_cast<std::uint64_t>(ms.count())};
  }

  void Reach() {
    const auto hosts = static_cast<std::uint32_t>(patients_.size());
    if (hosts < 2) return;
    Round round(patients_, options_.timeout + options_.pair_timeout);
    for (std::uint32_t from = 0; from < hosts; ++from) {
      std::vector<ProbeTarget> targets;
      for (std::uint32_t to = 0; to < hosts; ++to)
        if (to != from)
          for (ProbeTarget& target : TargetsOf(from, to)) targets.push_back(target);
      round.Ask(from, Probe(AgentCommand::Order::kReach, std::move(targets)));
    }
    set_.reached = Collect(round);
    for (const PairFacts& pair : set_.reached)
      if (pair.reach == doctor::Contact::kConnected)
        connected_.insert({pair.from, pair.to, pair.nic});
  }

  bool WasReached(const ProbeTarget& target) const {
    return connected_.contains({target.from, target.to, target.nic});
  }

  void Measure() {
    const auto hosts = static_cast<std::uint32_t>(patients_.size());
    for (std::size_t number = 0; number < doctor::PartnersOf(0, hosts).size(); ++number) {
      std::vector<std::vector<ProbeTarget>> targets(hosts);
      for (std::uint32_t from = 0; from < hosts; ++from)
        for (const ProbeTarget& target : TargetsOf(from, doctor::PartnersOf(from, hosts)[number]))
          if (WasReached(target)) targets[from].push_back(target);
      if (hosts == 2) {
        // Two hosts measure one direction at a time. Otherwise acknowledgements would queue behind
        // the data of a slow direction, and two hosts can only be compared with each other.
        Add(MeasureAll({targets[0], {}}));
        targets[0].clear();
      }
      Add(MeasureAll(std::move(targets)));
    }
    for (int i = 0; i < kRepeats; ++i) Repeat();
  }

  /// Measures on all hosts at once. \param targets  per host
  std::vector<PairFacts> MeasureAll(std::vector<std::vector<ProbeTarget>> targets) {
    std::size_t most = 0;
    for (const auto& each : targets) most = std::max(most, each.size());
    Round round(patients_, WaitFor(most));
    for (std::size_t from = 0; from < targets.size(); ++from)
      if (!targets[from].empty() && patients_[from].lost.empty())
        round.Ask(from, Probe(AgentCommand::Order::kMeasure, std::move(targets[from])));
    return Collect(round);
  }

  void Add(std::vector<PairFacts> pairs) {
    set_.measured.insert(set_.measured.end(), pairs.begin(), pairs.end());
  }

  /// Repeats measurements with bad figures, which may be noise. Measures a few pairs one at a time.
  /// If there are many pairs, all hosts measure at once, each one pair at a time.
  void Repeat() {
    const std::vector<PairFacts> doubtful = doctor::DoubtfulPairs(set_);
    const bool alone = doubtful.size() <= kAloneMax;
    std::vector<std::vector<ProbeTarget>> targets(patients_.size());
    for (const PairFacts& pair : doubtful) {
      for (const ProbeTarget& target : TargetsOf(pair.from, pair.to))
        if (target.nic == pair.nic) targets[pair.from].push_back(target);
      if (alone) Improve(MeasureAll(std::exchange(targets, decltype(targets)(patients_.size()))));
    }
    if (!alone) Improve(MeasureAll(std::move(targets)));
  }

  void Improve(const std::vector<PairFacts>& again) {
    std::map<std::array<std::uint32_t, 3>, const PairFacts*> better;
    for (const PairFacts& pair : again) better[{pair.from, pair.to, pair.nic}] = &pair;
    for (PairFacts& known : set_.measured)
      if (const auto found = better.find({known.from, known.to, known.nic}); found != better.end())
        known = doctor::BetterOf(known, *found->second);
  }

  ExaminationOptions options_;
  std::vector<ExaminedHost> patients_;
  doctor::SetFacts set_;
  std::set<std::array<std::uint32_t, 3>> connected_;  // from, to, NIC
};

}  // namespace

Result<doctor::SetFacts> Examine(std::vector<AgentLine> lines, const ExaminationOptions& options) {
  return Examination(std::move(lines), options).Run();
}

}  // namespace ringlet::cli
