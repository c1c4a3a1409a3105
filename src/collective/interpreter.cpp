#include "collective/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/prng.hpp"
#include "collective/dataflow.hpp"

namespace ringlet::collective {
namespace {

using RankSet = std::uint64_t;

/// What an element stands for: the sum of `index` over `ranks`.
struct Symbol {
  std::size_t index = 0;
  RankSet ranks = 0;
  bool divided = false;
};

std::string ToText(RankSet ranks) {
  std::string text;
  for (std::size_t rank = 0; rank < kProvableRanksMax; ++rank) {
    if ((ranks >> rank & 1) != 0) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return "{" + text + "}";
}

Error Wrong(std::string message) {
  return {.code = Code::kInvalidArgument, .message = std::move(message)};
}

/// "rank 3, step 5 (send 4 elements at 8 to rank 0 on channel 0)".
std::string Place(std::size_t rank, const Schedule& schedule, std::size_t step) {
  return fmt::format("rank {}, step {} ({})", rank, step, ToText(schedule.steps[step]));
}

// ---- What can be seen without running -----------------------------------------------------------

Status CheckSteps(std::span<const Schedule> schedules, std::size_t rank) {
  const Schedule& schedule = schedules[rank];
  if (schedule.count != schedules[0].count) {
    return Wrong(fmt::format("rank {} reduces {} elements and rank 0 reduces {}", rank,
                             schedule.count, schedules[0].count));
  }
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    const auto wrong = [&](const std::string& what) {
      return Wrong(Place(rank, schedule, i) + ": " + what);
    };
    if (Index(step.peer) >= schedules.size()) return wrong("there is no such rank");
    if (Index(step.peer) == rank) return wrong("a rank does not talk to itself");
    if (step.range.count == 0) return wrong("nothing to move");
    if (step.range.begin > schedule.count || step.range.count > schedule.count - step.range.begin) {
      return wrong(fmt::format("the buffer ends at {}", schedule.count));
    }
    if (step.finishes && step.kind == StepKind::kSend) {
      return wrong("only a step that receives can finish elements");
    }
  }
  return Ok();
}

/// Steps of one direction of one link, at one of its ends.
using LinkKey = std::tuple<std::size_t, std::size_t, std::uint16_t>;  // from, to, channel
using StepsByLink = std::map<LinkKey, std::vector<std::size_t>>;

StepsByLink StepsOf(std::span<const Schedule> schedules, bool sends) {
  StepsByLink steps;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    for (std::size_t i = 0; i < schedules[rank].steps.size(); ++i) {
      const Step& step = schedules[rank].steps[i];
      if ((step.kind == StepKind::kSend) != sends) continue;
      const std::size_t peer = Index(step.peer);
      steps[sends ? LinkKey{rank, peer, step.channel} : LinkKey{peer, rank, step.channel}]
          .push_back(i);
    }
  }
  return steps;
}

Status CheckPairs(std::span<const Schedule> schedules, const LinkKey& link,
                  std::span<const std::size_t> sends, std::span<const std::size_t> receives) {
  const auto& [from, to, channel] = link;
  for (std::size_t i = 0; i < std::min(sends.size(), receives.size()); ++i) {
    const Step& send = schedules[from].steps[sends[i]];
    const Step& receive = schedules[to].steps[receives[i]];
    if (send.range.count != receive.range.count) {
      return Wrong(fmt::format("{} meets {}: the counts differ",
                               Place(from, schedules[from], sends[i]),
                               Place(to, schedules[to], receives[i])));
    }
  }
  if (sends.size() > receives.size()) {
    return Wrong(Place(from, schedules[from], sends[receives.size()]) + " is never received");
  }
  if (sends.size() < receives.size()) {
    return Wrong(Place(to, schedules[to], receives[sends.size()]) + " waits for what nobody sends");
  }
  return Ok();
}

Status CheckStatically(std::span<const Schedule> schedules) {
  if (schedules.empty() || schedules.size() > kProvableRanksMax) {
    return Wrong(
        fmt::format("{} ranks; a proof takes 1 to {}", schedules.size(), kProvableRanksMax));
  }
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    RINGLET_TRY(CheckSteps(schedules, rank));
  }
  const StepsByLink sends = StepsOf(schedules, true);
  const StepsByLink receives = StepsOf(schedules, false);
  for (const auto& [link, steps] : sends) {
    const auto found = receives.find(link);
    RINGLET_TRY(CheckPairs(
        schedules, link, steps,
        found == receives.end() ? std::span<const std::size_t>() : std::span(found->second)));
  }
  for (const auto& [link, steps] : receives) {
    if (!sends.contains(link)) RINGLET_TRY(CheckPairs(schedules, link, {}, steps));
  }
  return Ok();
}

// ---- One rank -----------------------------------------------------------------------------------

/// How often an element has been read and written: a clock that program order prescribes.
struct Touches {
  std::size_t reads = 0;
  std::size_t writes = 0;
  bool operator==(const Touches&) const = default;
};

/// The buffer of one rank and how far its steps are, with every access checked.
class RankModel {
 public:
  RankModel(std::size_t rank, const Schedule& schedule, const Flow& flow)
      : rank_(rank), schedule_(schedule), flow_(flow), done_(flow.steps.size()) {
    for (std::size_t i = 0; i < schedule.count; ++i) {
      buffer_.push_back({.index = i, .ranks = RankSet{1} << rank});
    }
    cursor_.resize(flow_.lanes.size());
    Prescribe();
  }

  const Flow& flow() const { return flow_; }

  /// Elements that this lane could move now.
  std::size_t Ready(std::uint32_t lane) const {
    const std::optional<std::uint32_t> index = Current(lane);
    if (!index) return 0;
    return Frontier(flow_, flow_.steps[*index], done_) - done_[*index];
  }

  Result<Symbol> Send(std::uint32_t lane) {
    const std::uint32_t index = *Current(lane);
    RINGLET_TRY_ASSIGN(const std::size_t element, Touch(index));
    Advance(lane, index);
    return buffer_[element];
  }

  Status Receive(std::uint32_t lane, const Symbol& symbol) {
    const std::uint32_t index = *Current(lane);
    const FlowStep& step = flow_.steps[index];
    RINGLET_TRY_ASSIGN(const std::size_t element, Touch(index));
    if (step.kind == StepKind::kReceiveSum) {
      RINGLET_TRY(Add(step, element, symbol));
    } else {
      buffer_[element] = symbol;
    }
    if (step.finishes) {
      if (buffer_[element].divided) return WrongAt(step, element, "is divided twice");
      buffer_[element].divided = true;
    }
    Advance(lane, index);
    return Ok();
  }

  /// The first step that has not come to its end, in words; empty when all have.
  std::string Unfinished() const {
    for (std::size_t i = 0; i < flow_.steps.size(); ++i) {
      if (done_[i] < flow_.steps[i].range.count) {
        return fmt::format("{} is stuck after {} elements",
                           Place(rank_, schedule_, flow_.steps[i].origin), done_[i]);
      }
    }
    return {};
  }

  Status CheckResult(std::size_t ranks) const {
    const RankSet everybody = ranks == kProvableRanksMax ? ~RankSet{0} : (RankSet{1} << ranks) - 1;
    for (std::size_t i = 0; i < buffer_.size(); ++i) {
      const Symbol& symbol = buffer_[i];
      const std::string place = fmt::format("rank {} ends with element {}", rank_, i);
      if (symbol.index != i)
        return Wrong(fmt::format("{} holding element {}", place, symbol.index));
      if (symbol.ranks != everybody) {
        return Wrong(place + " lacking ranks " + ToText(everybody & ~symbol.ranks));
      }
      if (!symbol.divided && ranks > 1) return Wrong(place + " never finished: averages are wrong");
    }
    return Ok();
  }

 private:
  /// Walks through the steps in program order and notes what each element has seen before each.
  void Prescribe() {
    std::vector<Touches> touches(schedule_.count);
    for (const FlowStep& step : flow_.steps) {
      std::vector<Touches>& before = prescribed_.emplace_back();
      for (std::size_t i = step.range.begin; i < step.range.end(); ++i) {
        before.push_back(touches[i]);
        ++(step.kind == StepKind::kSend ? touches[i].reads : touches[i].writes);
      }
    }
    touches_.resize(schedule_.count);
  }

  std::optional<std::uint32_t> Current(std::uint32_t lane) const {
    const std::vector<std::uint32_t>& steps = flow_.lanes[lane].steps;
    if (cursor_[lane] == steps.size()) return std::nullopt;
    return steps[cursor_[lane]];
  }

  /// The element that step `index` touches next, if it is its turn.
  Result<std::size_t> Touch(std::uint32_t index) {
    const FlowStep& step = flow_.steps[index];
    const std::size_t element = step.range.begin + done_[index];
    Touches& seen = touches_[element];
    const Touches& due = prescribed_[index][done_[index]];
    // Reads between two writes may come in any order.
    const bool in_turn = step.kind == StepKind::kSend ? seen.writes == due.writes : seen == due;
    if (!in_turn) return WrongAt(step, element, "is touched out of turn");
    ++(step.kind == StepKind::kSend ? seen.reads : seen.writes);
    return element;
  }

  Status Add(const FlowStep& step, std::size_t element, const Symbol& symbol) {
    Symbol& mine = buffer_[element];
    if (mine.index != symbol.index) {
      return WrongAt(step, element, fmt::format("is added to element {}", symbol.index));
    }
    if ((mine.ranks & symbol.ranks) != 0) {
      return WrongAt(step, element,
                     fmt::format("would count ranks {} twice", ToText(mine.ranks & symbol.ranks)));
    }
    if (mine.divided || symbol.divided) {
      return WrongAt(step, element, "is added to after it was finished");
    }
    mine.ranks |= symbol.ranks;
    return Ok();
  }

  void Advance(std::uint32_t lane, std::uint32_t index) {
    if (++done_[index] == flow_.steps[index].range.count) ++cursor_[lane];
  }

  Error WrongAt(const FlowStep& step, std::size_t element, const std::string& what) const {
    return Wrong(
        fmt::format("{}: element {} {}", Place(rank_, schedule_, step.origin), element, what));
  }

  std::size_t rank_;
  const Schedule& schedule_;
  const Flow& flow_;
  std::vector<std::size_t> done_;    // elements, by step
  std::vector<std::size_t> cursor_;  // index in Lane::steps, by lane
  std::vector<Symbol> buffer_;
  std::vector<Touches> touches_;                  // by element
  std::vector<std::vector<Touches>> prescribed_;  // by step and element of its range
};

// ---- All ranks ----------------------------------------------------------------------------------

/// One direction of one link: which lanes it joins, and what is on its way.
struct Pipe {
  std::size_t from = 0;
  std::size_t to = 0;
  std::uint32_t from_lane = 0;
  std::uint32_t to_lane = 0;
  std::deque<Symbol> on_the_way;
};

class World {
 public:
  World(std::span<const Schedule> schedules, std::span<const Flow> flows,
        const ProofOptions& options)
      : options_(options), prng_(options.seed) {
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
      ranks_.emplace_back(rank, schedules[rank], flows[rank]);
    }
    JoinLanes();
  }

  Status Run() {
    std::vector<std::size_t> order(pipes_.size() * 2);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    bool moved = true;
    while (moved) {
      moved = false;
      Shuffle(order);
      for (const std::size_t choice : order) {
        Pipe& pipe = pipes_[choice / 2];
        RINGLET_TRY_ASSIGN(const bool did, choice % 2 == 0 ? Push(pipe) : Pull(pipe));
        moved = moved || did;
      }
    }
    for (const RankModel& rank : ranks_) {
      const std::string stuck = rank.Unfinished();
      if (!stuck.empty()) return Wrong("deadlock: " + stuck);
    }
    for (const RankModel& rank : ranks_) RINGLET_TRY(rank.CheckResult(ranks_.size()));
    return Ok();
  }

 private:
  /// Every sending lane has its receiving one: CheckStatically has seen to that.
  void JoinLanes() {
    std::map<LinkKey, Pipe> pipes;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const std::vector<Lane>& lanes = ranks_[rank].flow().lanes;
      for (std::uint32_t i = 0; i < lanes.size(); ++i) {
        const std::size_t peer = Index(lanes[i].peer);
        if (lanes[i].sends) {
          Pipe& pipe = pipes[{rank, peer, lanes[i].channel}];
          pipe.from = rank;
          pipe.from_lane = i;
        } else {
          Pipe& pipe = pipes[{peer, rank, lanes[i].channel}];
          pipe.to = rank;
          pipe.to_lane = i;
        }
      }
    }
    for (auto& [key, pipe] : pipes) pipes_.push_back(std::move(pipe));
  }

  void Shuffle(std::vector<std::size_t>& order) {
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[prng_.Below(i)]);
    }
  }

  std::size_t SliceOf(std::size_t possible) {
    return possible == 0 ? 0 : std::min(possible, 1 + prng_.Below(options_.slice_max));
  }

  /// The sender puts some elements on the link. True if it moved any.
  Result<bool> Push(Pipe& pipe) {
    const std::size_t room = options_.link_capacity - pipe.on_the_way.size();
    const std::size_t count = SliceOf(std::min(room, ranks_[pipe.from].Ready(pipe.from_lane)));
    for (std::size_t i = 0; i < count; ++i) {
      RINGLET_TRY_ASSIGN(const Symbol symbol, ranks_[pipe.from].Send(pipe.from_lane));
      pipe.on_the_way.push_back(symbol);
    }
    return count > 0;
  }

  /// The receiver takes some elements from the link, or without one from the sender's hand.
  Result<bool> Pull(Pipe& pipe) {
    const bool rendezvous = options_.link_capacity == 0;
    const std::size_t offered =
        rendezvous ? ranks_[pipe.from].Ready(pipe.from_lane) : pipe.on_the_way.size();
    const std::size_t count = SliceOf(std::min(offered, ranks_[pipe.to].Ready(pipe.to_lane)));
    for (std::size_t i = 0; i < count; ++i) {
      if (rendezvous) {
        RINGLET_TRY_ASSIGN(const Symbol symbol, ranks_[pipe.from].Send(pipe.from_lane));
        pipe.on_the_way.push_back(symbol);
      }
      RINGLET_TRY(ranks_[pipe.to].Receive(pipe.to_lane, pipe.on_the_way.front()));
      pipe.on_the_way.pop_front();
    }
    return count > 0;
  }

  const ProofOptions& options_;
  Prng prng_;
  std::vector<RankModel> ranks_;
  std::vector<Pipe> pipes_;
};

}  // namespace

Status ProveAllReduce(std::span<const Schedule> schedules, const ProofOptions& options) {
  // Before deriving: ranges may lie outside the buffer.
  RINGLET_TRY(CheckStatically(schedules));
  std::vector<Flow> flows;
  for (const Schedule& schedule : schedules) flows.push_back(Derive(schedule));
  return World(schedules, flows, options).Run();
}

Status ProveAllReduce(std::span<const Schedule> schedules, std::span<const Flow> flows,
                      const ProofOptions& options) {
  RINGLET_ASSERT(schedules.size() == flows.size());
  RINGLET_TRY(CheckStatically(schedules));
  return World(schedules, flows, options).Run();
}

}  // namespace ringlet::collective
