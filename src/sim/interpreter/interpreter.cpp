#include "sim/interpreter/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/value/prng.hpp"
#include "collective/exec/dataflow.hpp"

namespace ringlet::collective {
namespace {

using RankSet = std::uint64_t;

/// The value of an element: the sum over `ranks` of element `index` of their inputs. Without ranks,
/// the element is not written yet.
struct Symbol {
  std::size_t index = 0;
  RankSet ranks = 0;
  bool divided = false;
  /// Hash of the expression that computed it. Equal forms round equally.
  std::uint64_t form = 0;
};

/// The order of the operands matters.
std::uint64_t FormOf(std::uint64_t left, std::uint64_t right) {
  std::uint64_t mixed = left * 0x9e3779b97f4a7c15 + right;
  mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9;
  return mixed ^ mixed >> 32;
}

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
std::string Where(std::size_t rank, const Schedule& schedule, std::size_t step) {
  return fmt::format("rank {}, step {} ({})", rank, step, ToText(schedule.steps[step]));
}

// ---- What can be seen without running -----------------------------------------------------------

CallPlace PlaceOf(std::size_t rank, std::size_t ranks) {
  return {.self = Rank{static_cast<std::uint32_t>(rank)},
          .ranks = static_cast<std::uint32_t>(ranks)};
}

Status CheckCounts(const Call& call, std::span<const Schedule> schedules, std::size_t rank) {
  const CallPlace place = PlaceOf(rank, schedules.size());
  const std::size_t in = InputCount(call, place), out = OutputCount(call, place);
  const Schedule& schedule = schedules[rank];
  if (schedule.input_count == in && schedule.output_count == out) return Ok();
  return Wrong(fmt::format("rank {} takes {} elements and gives {}; {} of {} takes {} and gives {}",
                           rank, schedule.input_count, schedule.output_count, Name(call.kind),
                           call.count, in, out));
}

Status CheckSteps(std::span<const Schedule> schedules, std::size_t rank) {
  const Schedule& schedule = schedules[rank];
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    const auto wrong = [&](const std::string& what) {
      return Wrong(Where(rank, schedule, i) + ": " + what);
    };
    const auto beyond = [&](const Place& place) {
      const std::size_t size = schedule.CountOf(place.buffer);
      return place.begin > size || step.count > size - place.begin;
    };
    if (Communicates(step.kind) && Index(step.peer) >= schedules.size()) {
      return wrong("the rank does not exist");
    }
    if (Communicates(step.kind) && Index(step.peer) == rank)
      return wrong("a rank cannot send to itself");
    if (Reads(step.kind) && beyond(step.from)) return wrong("it reads beyond the buffer");
    if (Writes(step.kind) && beyond(step.to)) return wrong("it writes beyond the buffer");
    if (Writes(step.kind) && step.to.buffer == Buffer::kInput) return wrong("it writes the input");
    if (step.finishes && !Writes(step.kind)) return wrong("only a step that writes can finish");
  }
  return Ok();
}

/// Steps of one direction of one link, at one end.
using LinkKey = std::pair<std::size_t, std::size_t>;  // from, to
using StepsByLink = std::map<LinkKey, std::vector<std::size_t>>;

StepsByLink StepsOf(std::span<const Schedule> schedules, bool sends) {
  StepsByLink steps;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    for (std::size_t i = 0; i < schedules[rank].steps.size(); ++i) {
      const Step& step = schedules[rank].steps[i];
      if (!Communicates(step.kind) || (step.kind == StepKind::kSend) != sends) continue;
      const std::size_t peer = Index(step.peer);
      steps[sends ? LinkKey{rank, peer} : LinkKey{peer, rank}].push_back(i);
    }
  }
  return steps;
}

Status CheckPairs(std::span<const Schedule> schedules, const LinkKey& link,
                  std::span<const std::size_t> sends, std::span<const std::size_t> receives) {
  const auto& [from, to] = link;
  for (std::size_t i = 0; i < std::min(sends.size(), receives.size()); ++i) {
    const Step& send = schedules[from].steps[sends[i]];
    const Step& receive = schedules[to].steps[receives[i]];
    if (send.count != receive.count) {
      return Wrong(fmt::format("{} meets {}: the counts differ",
                               Where(from, schedules[from], sends[i]),
                               Where(to, schedules[to], receives[i])));
    }
    if (send.channel != receive.channel) {
      return Wrong(fmt::format("{} meets {}: the channels differ",
                               Where(from, schedules[from], sends[i]),
                               Where(to, schedules[to], receives[i])));
    }
  }
  if (sends.size() > receives.size()) {
    return Wrong(Where(from, schedules[from], sends[receives.size()]) + " is never received");
  }
  if (sends.size() < receives.size()) {
    return Wrong(Where(to, schedules[to], receives[sends.size()]) +
                 " waits for data that no rank sends");
  }
  return Ok();
}

Status CheckStatically(const Call& call, std::span<const Schedule> schedules) {
  if (schedules.empty() || schedules.size() > kProvableRanksMax) {
    return Wrong(
        fmt::format("{} ranks; a proof takes 1 to {}", schedules.size(), kProvableRanksMax));
  }
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    RINGLET_TRY(CheckCounts(call, schedules, rank));
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

/// Number of reads and writes of an element: a clock in program order.
struct AccessCount {
  std::size_t reads = 0;
  std::size_t writes = 0;
  bool operator==(const AccessCount&) const = default;
};

/// The memory of one rank and the progress of its steps. Every access is checked.
class RankModel {
 public:
  RankModel(const Call& call, CallPlace place, const Schedule& schedule, const Flow& flow,
            bool in_place)
      : call_(call), place_(place), schedule_(schedule), flow_(flow), done_(flow.steps.size()) {
    LayOut(in_place);
    for (std::size_t i = 0; i < schedule.input_count; ++i) {
      cells_[At(Input(i))] = {
          .index = i, .ranks = RankSet{1} << Index(place.self), .form = Index(place.self) + 1};
    }
    cursor_.resize(flow_.lanes.size());
    Prescribe();
  }

  const Flow& flow() const { return flow_; }

  /// Returns the number of elements that this lane could move now.
  std::size_t Ready(std::uint32_t lane) const {
    const std::optional<std::uint32_t> index = Current(lane);
    if (!index) return 0;
    return Frontier(flow_, flow_.steps[*index], done_) - done_[*index];
  }

  Result<Symbol> Send(std::uint32_t lane) {
    const std::uint32_t index = *Current(lane);
    RINGLET_TRY_ASSIGN(const Symbol symbol, Read(index));
    Advance(lane, index);
    return symbol;
  }

  Status Receive(std::uint32_t lane, Symbol symbol) {
    const std::uint32_t index = *Current(lane);
    if (flow_.steps[index].step.kind == StepKind::kReceiveReduce) {
      RINGLET_TRY_ASSIGN(const Symbol mine, Read(index));
      RINGLET_TRY_ASSIGN(symbol, Sum(index, mine, symbol));
    }
    RINGLET_TRY(Write(index, symbol));
    Advance(lane, index);
    return Ok();
  }

  std::uint64_t FormOfOutput(std::size_t i) const { return cells_[At(Output(i))].form; }

  /// Executes one element of this rank's local work.
  Status Work(std::uint32_t lane) {
    const std::uint32_t index = *Current(lane);
    const Step& step = flow_.steps[index].step;
    const Symbol before = cells_[At(step.to) + done_[index]];
    RINGLET_TRY_ASSIGN(Symbol symbol, Read(index));
    if (step.kind == StepKind::kReduce) {
      if (before.ranks == 0) return WrongAt(index, "is read before it is written");
      RINGLET_TRY_ASSIGN(symbol, Sum(index, before, symbol));
    }
    RINGLET_TRY(Write(index, symbol));
    Advance(lane, index);
    return Ok();
  }

  /// Returns the first unfinished step in words; empty if all steps have ended.
  std::string Unfinished() const {
    for (std::size_t i = 0; i < flow_.steps.size(); ++i) {
      if (done_[i] < flow_.steps[i].step.count) {
        return fmt::format("{} is stuck after {} elements",
                           Where(Index(place_.self), schedule_, flow_.steps[i].origin), done_[i]);
      }
    }
    return {};
  }

  Status CheckResult() const {
    for (std::size_t i = 0; i < schedule_.output_count; ++i) {
      const Symbol& symbol = cells_[At(Output(i))];
      const Symbol due = ScheduledEvent(i);
      const std::string place = fmt::format("rank {} ends with element {}", Index(place_.self), i);
      if (symbol.ranks != 0 && symbol.index != due.index)
        return Wrong(fmt::format("{} holding element {}", place, symbol.index));
      if ((due.ranks & ~symbol.ranks) != 0)
        return Wrong(place + " lacking ranks " + ToText(due.ranks & ~symbol.ranks));
      if (symbol.ranks != due.ranks)
        return Wrong(place + " with ranks " + ToText(symbol.ranks) + " too many");
      if (due.divided && !symbol.divided && place_.ranks > 1)
        return Wrong(place + " never finished: averages are wrong");
    }
    return Ok();
  }

 private:
  /// Returns the expected value of element `i` of the output.
  Symbol ScheduledEvent(std::size_t i) const {
    const RankSet everybody =
        place_.ranks == kProvableRanksMax ? ~RankSet{0} : (RankSet{1} << place_.ranks) - 1;
    const std::size_t count = call_.count;
    const std::size_t own = Index(place_.self) * count;
    const RankSet root = RankSet{1} << Index(call_.root);
    switch (call_.kind) {
      case CallKind::kReduceScatter: return {own + i, everybody, true};
      case CallKind::kAllGather:
      case CallKind::kGather: return {i % count, RankSet{1} << (i / count), false};
      case CallKind::kAllToAll: return {own + i % count, RankSet{1} << (i / count), false};
      case CallKind::kBroadcast: return {i, root, false};
      case CallKind::kScatter: return {own + i, root, false};
      case CallKind::kBarrier: return {i, everybody, false};
      case CallKind::kAllReduce:
      case CallKind::kReduce:
      case CallKind::kAllToAllV:
      case CallKind::kSendReceive: break;
    }
    return {i, everybody, true};
  }

  /// Places the first cell of each buffer.
  void LayOut(bool in_place) {
    const auto input = static_cast<std::ptrdiff_t>(schedule_.input_count);
    const auto output = static_cast<std::ptrdiff_t>(schedule_.output_count);
    const std::ptrdiff_t offset = in_place ? InPlaceOffset(call_, place_.self) : input;
    const std::ptrdiff_t first = std::min<std::ptrdiff_t>(0, offset);
    const std::ptrdiff_t end = std::max(input, offset + output);
    bases_ = {static_cast<std::size_t>(-first), static_cast<std::size_t>(offset - first),
              static_cast<std::size_t>(end - first)};
    cells_.resize(bases_[2] + schedule_.scratch_count);
  }
  std::size_t At(const Place& place) const {
    return bases_[static_cast<std::size_t>(place.buffer)] + place.begin;
  }

  /// Visits the steps in program order and records the state of each element before each step.
  void Prescribe() {
    std::vector<AccessCount> touches(cells_.size());
    for (const FlowStep& flow_step : flow_.steps) {
      const Step& step = flow_step.step;
      std::vector<AccessCount>& reads = prescribed_reads_.emplace_back();
      std::vector<AccessCount>& writes = prescribed_writes_.emplace_back();
      for (std::size_t i = 0; i < step.count; ++i) {
        if (Reads(step.kind)) {
          AccessCount& cell = touches[At(step.from) + i];
          reads.push_back(cell);
          ++cell.reads;
        }
        if (!Writes(step.kind)) continue;
        AccessCount& cell = touches[At(step.to) + i];
        writes.push_back(cell);
        ++cell.writes;
      }
    }
    touches_.resize(cells_.size());
  }

  std::optional<std::uint32_t> Current(std::uint32_t lane) const {
    const std::vector<std::uint32_t>& steps = flow_.lanes[lane].steps;
    if (cursor_[lane] == steps.size()) return std::nullopt;
    return steps[cursor_[lane]];
  }

  /// Returns the next elements of step `index`, if it is its turn.
  Result<Symbol> Read(std::uint32_t index) {
    const std::size_t cell = At(flow_.steps[index].step.from) + done_[index];
    // Reads between two writes are unordered.
    if (touches_[cell].writes != prescribed_reads_[index][done_[index]].writes) {
      return WrongAt(index, "is read out of turn");
    }
    ++touches_[cell].reads;
    if (cells_[cell].ranks == 0) return WrongAt(index, "is read before it is written");
    return cells_[cell];
  }

  Status Write(std::uint32_t index, const Symbol& symbol) {
    const Step& step = flow_.steps[index].step;
    const std::size_t cell = At(step.to) + done_[index];
    if (touches_[cell] != prescribed_writes_[index][done_[index]]) {
      return WrongAt(index, "is written out of turn");
    }
    ++touches_[cell].writes;
    cells_[cell] = symbol;
    if (!step.finishes) return Ok();
    if (symbol.divided) return WrongAt(index, "is divided twice");
    cells_[cell].divided = true;
    return Ok();
  }

  Result<Symbol> Sum(std::uint32_t index, const Symbol& mine, const Symbol& symbol) const {
    if (mine.index != symbol.index) {
      return WrongAt(index, fmt::format("of the input is added to element {}", symbol.index));
    }
    // A barrier only needs the set of contributing ranks.
    if ((mine.ranks & symbol.ranks) != 0 && call_.kind != CallKind::kBarrier) {
      return WrongAt(index,
                     fmt::format("would count ranks {} twice", ToText(mine.ranks & symbol.ranks)));
    }
    if (mine.divided || symbol.divided) return WrongAt(index, "is added to after it was finished");
    const bool swapped = flow_.steps[index].step.swapped;
    return Symbol{mine.index, mine.ranks | symbol.ranks, false,
                  swapped ? FormOf(symbol.form, mine.form) : FormOf(mine.form, symbol.form)};
  }

  void Advance(std::uint32_t lane, std::uint32_t index) {
    if (++done_[index] == flow_.steps[index].step.count) ++cursor_[lane];
  }

  Error WrongAt(std::uint32_t index, const std::string& what) const {
    return Wrong(fmt::format("{}: element {} {}",
                             Where(Index(place_.self), schedule_, flow_.steps[index].origin),
                             done_[index], what));
  }

  Call call_;
  CallPlace place_;
  const Schedule& schedule_;
  const Flow& flow_;
  std::array<std::size_t, 3> bases_{};  // by Buffer
  std::vector<std::size_t> done_;       // number of finished elements, by step
  std::vector<std::size_t> cursor_;     // index in Lane::steps, by lane
  std::vector<Symbol> cells_;
  std::vector<AccessCount> touches_;                         // by cell
  std::vector<std::vector<AccessCount>> prescribed_reads_;   // by step and element of it
  std::vector<std::vector<AccessCount>> prescribed_writes_;  // likewise
};

// ---- All ranks ----------------------------------------------------------------------------------

/// One direction of one link: its lanes, and the elements in transit.
struct Pipe {
  std::size_t from = 0;
  std::size_t to = 0;
  std::uint32_t from_lane = 0;
  std::uint32_t to_lane = 0;
  std::deque<Symbol> on_the_way;
};

class World {
 public:
  World(const Call& call, std::span<const Schedule> schedules, std::span<const Flow> flows,
        const ProofOptions& options)
      : call_(call), options_(options), prng_(options.seed) {
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
      ranks_.emplace_back(call, PlaceOf(rank, schedules.size()), schedules[rank], flows[rank],
                          options.in_place);
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
      RINGLET_TRY_ASSIGN(const bool worked, WorkLocally());
      moved = moved || worked;
    }
    for (const RankModel& rank : ranks_) {
      const std::string stuck = rank.Unfinished();
      if (!stuck.empty()) return Wrong("deadlock: " + stuck);
    }
    for (const RankModel& rank : ranks_) RINGLET_TRY(rank.CheckResult());
    return CheckForms();
  }

 private:
  /// Checks that all ranks compute the same expression in the same order, and so get the same bits.
  Status CheckForms() const {
    if (call_.kind != CallKind::kAllReduce) return Ok();
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
      for (std::size_t i = 0; i < call_.count; ++i) {
        if (ranks_[rank].FormOfOutput(i) == ranks_[0].FormOfOutput(i)) continue;
        return Wrong(fmt::format(
            "rank {} ends with element {} added up in another order than rank 0", rank, i));
      }
    }
    return Ok();
  }

  /// Pairs each sending lane with its receiving lane. CheckStatically ensures that both exist.
  void JoinLanes() {
    std::map<LinkKey, Pipe> pipes;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const std::vector<Lane>& lanes = ranks_[rank].flow().lanes;
      for (std::uint32_t i = 0; i < lanes.size(); ++i) {
        const std::size_t peer = Index(lanes[i].peer);
        if (lanes[i].direction == Lane::Direction::kLocal) {
          local_.push_back({rank, i});
        } else if (lanes[i].direction == Lane::Direction::kSend) {
          Pipe& pipe = pipes[{rank, peer}];
          pipe.from = rank;
          pipe.from_lane = i;
        } else {
          Pipe& pipe = pipes[{peer, rank}];
          pipe.to = rank;
          pipe.to_lane = i;
        }
      }
    }
    for (auto& [key, pipe] : pipes) pipes_.push_back(std::move(pipe));
  }

  /// Each rank performs some of its own work, or none.
  Result<bool> WorkLocally() {
    bool worked = false;
    for (const auto& [rank, lane] : local_) {
      const std::size_t count = SliceOf(ranks_[rank].Ready(lane));
      for (std::size_t i = 0; i < count; ++i) RINGLET_TRY(ranks_[rank].Work(lane));
      worked = worked || count > 0;
    }
    return worked;
  }

  void Shuffle(std::vector<std::size_t>& order) {
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[prng_.Below(i)]);
    }
  }

  std::size_t SliceOf(std::size_t possible) {
    return possible == 0 ? 0 : std::min(possible, 1 + prng_.Below(options_.slice_max));
  }

  /// The sender puts some elements on the link. Returns true if it moved any.
  Result<bool> Push(Pipe& pipe) {
    const std::size_t room = options_.link_capacity - pipe.on_the_way.size();
    const std::size_t count = SliceOf(std::min(room, ranks_[pipe.from].Ready(pipe.from_lane)));
    for (std::size_t i = 0; i < count; ++i) {
      RINGLET_TRY_ASSIGN(const Symbol symbol, ranks_[pipe.from].Send(pipe.from_lane));
      pipe.on_the_way.push_back(symbol);
    }
    return count > 0;
  }

  /// The receiver takes some elements from the link, or, without a buffer, from the sender.
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

  const Call& call_;
  const ProofOptions& options_;
  Prng prng_;
  std::vector<RankModel> ranks_;
  std::vector<Pipe> pipes_;
  std::vector<std::pair<std::size_t, std::uint32_t>> local_;  // rank and lane
};

}  // namespace

Status Prove(const Call& call, std::span<const Schedule> schedules, const ProofOptions& options) {
  // Check before deriving: ranges may lie outside the buffer.
  RINGLET_TRY(CheckStatically(call, schedules));
  std::vector<Flow> flows;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    const Rank self{static_cast<std::uint32_t>(rank)};
    const Overlap overlap = options.in_place ? Overlap(InPlaceOffset(call, self)) : Overlap();
    flows.push_back(Derive(schedules[rank], overlap));
  }
  return World(call, schedules, flows, options).Run();
}

Status Prove(const Call& call, std::span<const Schedule> schedules, std::span<const Flow> flows,
             const ProofOptions& options) {
  RINGLET_ASSERT(schedules.size() == flows.size());
  RINGLET_TRY(CheckStatically(call, schedules));
  return World(call, schedules, flows, options).Run();
}

}  // namespace ringlet::collective
