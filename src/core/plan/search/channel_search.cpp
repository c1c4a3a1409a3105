#include "plan/search/channel_search.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ringlet::plan {
namespace {

using topology::PathType;

constexpr std::int64_t kReferenceBudget = 1024;  // NCCL's, for the order of numbers with NICs
constexpr std::int64_t kMbPerGb = 1000;

std::int64_t Half(std::uint32_t mb_per_s) {
  return (std::int64_t{mb_per_s} + 1) / 2;
}

/// Rounds down to GB/s, because NCCL compares whole GB/s.
std::int64_t WholeGb(topology::Bandwidth bandwidth) {
  return bandwidth.mb_per_s / kMbPerGb;
}

}  // namespace

ChannelSearch::ChannelSearch(RouteTable& table, NicSelector& nets, const SearchOptions& options)
    : table_(table),
      nets_(nets),
      options_(options),
      devices_(table.device_count()),
      residual_(table) {
  const std::size_t devices = devices_;
  order_.resize(kSearchChannelsMax * devices);
  orders_.resize(kSearchChannelsMax * devices);
  used_.resize(kSearchChannelsMax * devices);
  entry_.resize(kSearchChannelsMax);
  exit_.resize(kSearchChannelsMax);
  for (std::uint32_t net = 0; net < table.net_count(); ++net)
    net_left_.push_back(table.NetMbPerS(net));
  for (std::uint32_t net = 0; options.multi_node && net < table.net_count(); ++net)
    for (std::uint32_t device = 0; device < devices; ++device)
      inter_gb_.push_back(WholeGb(table.PathOf(NetEnd(net), DeviceEnd(device)).bandwidth));
}

StepOutcome ChannelSearch::Run(const SearchStep& search_step, std::int64_t budget,
                               PatternGraph& best) {
  search_step_ = search_step;
  is_tree_ = search_step.pattern == Pattern::kTree ||
             search_step.pattern == Pattern::kBalancedTree ||
             search_step.pattern == Pattern::kSplitTree;
  best_ = &best;
  outcome_ = {};
  outcome_.search_step = search_step;
  outcome_.refusal = StepRefusal::kNet;
  farthest_ = 0;
  budgets_[0] = budget;
  channels_ = 0;
  hops_ = 0;
  budgets_[1] = 0;
  transpositions_.Clear();
  began_second_ = !options_.multi_node;
  StartChannel(0);
  while (!stack_.empty()) {
    if (Advance(stack_.back())) continue;
    if (stack_.back().crossroads) RecordState();
    Pop();
  }
  if (outcome_.perfect) outcome_.refusal = StepRefusal::kNone;
  outcome_.budget_out = budgets_[0] == 0;
  return outcome_;
}

void ChannelSearch::StartChannel(std::uint8_t budget) {
  SearchFrame& frame = stack_.emplace_back();
  frame.kind = Kind::kStart;
  frame.budget = budget;
  const auto last = static_cast<std::int32_t>(devices_) - 1;
  if (!options_.multi_node) {
    if (search_step_.pattern == Pattern::kRing) frame.close_at = last;
  } else {
    frame.exit_at = search_step_.pattern == Pattern::kRing        ? last
                    : search_step_.pattern == Pattern::kSplitTree ? std::min(1, last)
                                                                  : 0;
  }
}

/// Continues a channel at `device`.
/// \return false if the budget was used up; all frames of this budget are then undone
bool ChannelSearch::Visit(std::uint32_t device, std::int32_t step, std::int32_t exit_at,
                          std::int32_t close_at, Mode mode, std::uint8_t budget) {
  if (budgets_[budget] <= 0) {
    Unwind(budget);
    return false;
  }
  --budgets_[budget];
  ++outcome_.steps;
  const auto devices = static_cast<std::int32_t>(devices_);
  if (step == devices) {
    Complete(budget);
    return true;
  }
  PutDevice(static_cast<std::uint32_t>(step), device);
  SearchFrame& frame = stack_.emplace_back();  // in place: a copy of recently written data is slow
  frame.mode = mode;
  frame.budget = budget;
  frame.step = step;
  frame.exit_at = exit_at;
  frame.close_at = close_at;
  frame.device = device;
  frame.end = 1;
  frame.first = static_cast<std::uint32_t>(candidates_.size());
  if (step == exit_at) {
    frame.kind = Kind::kExit;
    frame.end = static_cast<std::uint32_t>(nets_.Of(device, search_step_.type_inter).size());
  } else if (search_step_.pattern == Pattern::kNvls) {
    frame.kind = Kind::kHead;
  } else if (search_step_.pattern == Pattern::kCollnetDirect) {
    frame.kind = Kind::kFan;
  } else if (step < devices - 1) {
    frame.kind = Kind::kNext;
    if (transpositions_.pays() && CanUseTranspositions(mode))
      if (const TranspositionTable::End* const end = KnownEnd(device)) return Skip(*end, budget);
    ListCandidates(frame);
  } else {
    frame.kind = step == close_at ? Kind::kClose : Kind::kPass;
  }
  return true;
}

void ChannelSearch::PutDevice(std::uint32_t step, std::uint32_t device) {
  const std::size_t at = channels_ * devices_ + step;
  order_[at] = device;
  orders_[at] = Scatter((step == 0 ? channels_ << 32 : orders_[at - 1]) + device);
}

void ChannelSearch::Complete(std::uint8_t budget) {
  ++channels_;
  outcome_.channels = std::max(outcome_.channels, channel());
  if (Better(*best_)) Gain(budget);
  SearchFrame& frame = stack_.emplace_back();
  frame.kind = Kind::kDone;
  frame.budget = budget;
  frame.end = channels_ < search_step_.max_channels ? 1 : 0;
}

/// Stores the complete channels as the best result.
void ChannelSearch::Gain(std::uint8_t budget) {
  Save();
  outcome_.improved = true;
  ++gains_;
  if (channels_ < search_step_.max_channels) return;
  budgets_[budget] = -1;
  outcome_.perfect = true;
}

bool ChannelSearch::Better(const PatternGraph& best) const {
  if (channels_ < search_step_.min_channels) return false;
  const std::uint64_t other = best.channels.size();
  if (search_step_.pattern == Pattern::kNvls) {
    if (channels_ > other && channels_ <= devices_) return true;
    return channels_ * search_step_.inter_mb_per_s > other * best.inter.mb_per_s;
  }
  const std::uint64_t total = channels_ * search_step_.intra_mb_per_s;
  const std::uint64_t other_total = other * best.intra.mb_per_s;
  if (total != other_total) return total > other_total;
  return search_step_.pattern == best.pattern && search_step_.cross_nic == best.cross_nic &&
         hops_ < best.hops;
}

void ChannelSearch::Save() {
  PatternGraph& best = *best_;
  best.pattern = search_step_.pattern;
  best.channels.resize(channels_);
  const bool head_only = search_step_.pattern == Pattern::kNvls;
  const std::uint32_t visited = head_only ? 1 : devices_;
  for (std::uint32_t c = 0; c < channels_; ++c) {
    LocalChannel& channel = best.channels[c];
    channel.devices.assign(&Device(c, 0), &Device(c, 0) + visited);
    if (!options_.multi_node) continue;
    channel.entry = entry_[c];
    channel.exit = exit_[c];
  }
  best.intra = {search_step_.intra_mb_per_s};
  best.inter = {search_step_.inter_mb_per_s};
  best.type_intra = search_step_.type_intra;
  best.type_inter = search_step_.type_inter;
  best.same_channels = search_step_.same_channels;
  best.cross_nic = search_step_.cross_nic;
  best.latency_inter_ns = latency_ns_;
  best.hops = static_cast<std::uint32_t>(hops_);
}

/// The progress of the search at a frame.
std::uint64_t ChannelSearch::Place(const SearchFrame& frame) const {
  const auto step = static_cast<std::uint64_t>(frame.step);
  return channels_ * (devices_ + 1) + step + 1;
}

/// Records the obstacle if the search never progressed this far.
/// \param route  for kLink: the route with the full link
void ChannelSearch::Refuse(StepRefusal refusal, const Route* route, std::int64_t mb_per_s) {
  RefuseAt(Place(stack_.back()), refusal, route, mb_per_s);
}

void ChannelSearch::RefuseAt(std::uint64_t place, StepRefusal refusal, const Route* route,
                             std::int64_t mb_per_s) {
  if (place <= farthest_) return;
  farthest_ = place;
  outcome_.refusal = refusal;
  outcome_.link = route == nullptr ? std::nullopt : residual_.FullOf(*route, mb_per_s);
}

bool ChannelSearch::Advance(SearchFrame& frame) {
  Undo(frame);
  switch (frame.kind) {
    case Kind::kStart: return AdvanceStart(frame);
    case Kind::kEntry: return AdvanceEntry(frame);
    case Kind::kExit: return AdvanceExit(frame);
    case Kind::kNext: return AdvanceNext(frame);
    case Kind::kClose:
    case Kind::kHead:
    case Kind::kFan:
    case Kind::kPass:
    case Kind::kDone: break;
  }
  return AdvanceOnce(frame);
}

bool ChannelSearch::AdvanceStart(SearchFrame& frame) {
  return options_.multi_node ? AdvanceStartFromNet(frame) : AdvanceStartHere(frame);
}

/// Tries the order of numbers, or the order of the previous channel. Then starts at each device.
bool ChannelSearch::AdvanceStartHere(SearchFrame& frame) {
  const std::uint32_t alternative = frame.next++;
  std::uint32_t device = alternative - 1;
  Mode mode = Mode::kFree;
  if (search_step_.pattern == Pattern::kNvls) {
    if (alternative > 0 || channel() >= devices_) return false;
    device = channel();
  } else if (alternative == 0) {
    mode = channels_ == 0 ? Mode::kIndexOrder : Mode::kReplay;
    device = channels_ == 0 ? 0 : Device(channel() - 1, 0);
  } else if (device >= devices_ || (search_step_.same_channels && channels_ > 0)) {
    return false;
  }
  frame.undo = true;
  frame.chosen = device;
  ToggleUsed(device);
  Visit(device, 0, frame.exit_at, frame.close_at, mode, frame.budget);
  return true;
}

bool ChannelSearch::AdvanceStartFromNet(SearchFrame& frame) {
  const std::vector<std::uint32_t>& list = nets_.OfAll(search_step_.type_inter);
  const std::int64_t load = search_step_.inter_mb_per_s / kMbPerGb * kMbPerGb;
  const bool heads =
      search_step_.pattern == Pattern::kNvls || search_step_.pattern == Pattern::kCollnetDirect;
  const topology::Graph& graph = table_.paths().graph();
  while (frame.next < list.size() && !frame.headed) {
    const std::uint32_t net = list[(channels_ + frame.next++) % list.size()];
    const topology::NetFacts& facts = graph.net(table_.nets()[net]);
    const bool in_network =
        search_step_.id == GraphId::kCollnetChain || search_step_.id == GraphId::kCollnetDirect;
    if (in_network && !facts.collective) continue;
    if (net_left_[net] < load) {
      Refuse(StepRefusal::kNet, nullptr, 0);
      continue;
    }
    if (search_step_.pattern == Pattern::kRing && search_step_.cross_nic == 2 &&
        channels_ % 2 == 1 && net != exit_[channels_ - 1])
      continue;
    if (heads) {
      if (channels_ >= list.size() || !nets_.Preferred(net)) continue;
      const std::uint32_t head = nets_.DevicesNear(net).front();
      bool taken = false;
      for (std::uint32_t c = 0; c < channels_; ++c) taken = taken || Device(c, 0) == head;
      if (taken) continue;
      frame.headed = true;
    }
    began_second_ = began_second_ || channels_ > 0;
    entry_[channels_] = net;
    latency_ns_ = facts.latency_ns;
    LoadNet(net, load);
    frame.undo = true;
    frame.chosen = net;
    SearchFrame entry = frame;
    entry.kind = Kind::kEntry;
    entry.undo = entry.crossroads = false;
    entry.net = net;
    entry.next = 0;
    stack_.push_back(entry);
    return true;
  }
  return false;
}

bool ChannelSearch::AdvanceEntry(SearchFrame& frame) {
  if (budgets_[1] == -1) budgets_[0] = -1;
  const std::vector<std::uint32_t>& near = nets_.DevicesNear(frame.net);
  while (true) {
    const std::uint32_t alternative = frame.next++;
    std::uint32_t device = 0;
    Mode mode = Mode::kFree;
    std::uint8_t budget = frame.budget;
    if (frame.headed) {
      if (alternative > 0) return false;
      device = near.front();
    } else if (channels_ > 0 && search_step_.same_channels) {
      if (alternative > 0) return false;
      device = Device(channel() - 1, 0);
      mode = Mode::kReplay;
    } else if (alternative == 0) {
      if (channels_ > 0 || !table_.switches().empty()) continue;
      mode = Mode::kIndexOrder;
      budget = 1;
      budgets_[1] = kReferenceBudget;
    } else {
      if (alternative > near.size()) return false;
      device = near[alternative - 1];
    }
    if (!Enter(frame, From(NetEnd(frame.net), device), search_step_.inter_mb_per_s)) continue;
    Visit(device, 0, frame.exit_at, frame.close_at, mode, budget);
    return true;
  }
}

bool ChannelSearch::AdvanceExit(SearchFrame& frame) {
  const std::vector<std::uint32_t>& list = nets_.Of(frame.device, search_step_.type_inter);
  const bool balanced = search_step_.pattern == Pattern::kBalancedTree;
  const std::int64_t mb_per_s =
      balanced ? Half(search_step_.inter_mb_per_s) : search_step_.inter_mb_per_s;
  while (frame.next < frame.end) {
    const std::uint32_t net = list[frame.next++];
    if (!CanExitBy(net, entry_[channels_], frame.step)) continue;
    frame.route = table_.NumberOf(DeviceEnd(frame.device), NetEnd(net));
    if (!ReserveRoute(frame.route, true, mb_per_s, true)) continue;
    exit_[channels_] = net;
    frame.undo = true;
    frame.chosen = net;
    const bool second = balanced && frame.step == 0 && devices_ > 1;
    Visit(frame.device, frame.step, second ? 1 : -1, frame.close_at, frame.mode, frame.budget);
    return true;
  }
  return false;
}

bool ChannelSearch::AdvanceNext(SearchFrame& frame) {
  while (frame.next < frame.end) {
    const NextDevice next = candidates_[frame.first + frame.next++];
    if (!Enter(frame, next, search_step_.intra_mb_per_s)) continue;
    Visit(next.device, frame.step + 1, frame.exit_at, frame.close_at, frame.mode, frame.budget);
    return true;
  }
  return false;
}

bool ChannelSearch::AdvanceOnce(SearchFrame& frame) {
  if (frame.next >= frame.end) return false;
  ++frame.next;
  const auto devices = static_cast<std::int32_t>(devices_);
  frame.chosen = frame.device;
  switch (frame.kind) {
    case Kind::kDone: StartNext(frame.budget); return true;
    case Kind::kHead:
      if (!ReserveHead(frame.device)) return false;
      break;
    case Kind::kFan:
      if (!ReserveFan(frame.device)) return false;
      break;
    case Kind::kClose:
      frame.chosen = Device(channel(), 0);
      frame.route = table_.NumberOf(DeviceEnd(frame.device), DeviceEnd(frame.chosen));
      if (!ReserveRoute(frame.route, false, search_step_.intra_mb_per_s, true)) return false;
      break;
    case Kind::kStart:
    case Kind::kEntry:
    case Kind::kExit:
    case Kind::kNext:
    case Kind::kPass: break;
  }
  frame.undo = true;
  Visit(frame.chosen, devices, -1, -1, frame.mode, frame.budget);
  return true;
}

/// Undoes the latest alternative.
void ChannelSearch::Undo(SearchFrame& frame) {
  if (!frame.undo) return;
  frame.undo = false;
  const bool balanced = search_step_.pattern == Pattern::kBalancedTree;
  switch (frame.kind) {
    case Kind::kStart:
      if (options_.multi_node)
        LoadNet(frame.chosen, -std::int64_t{search_step_.inter_mb_per_s / kMbPerGb * kMbPerGb});
      else
        ToggleUsed(frame.chosen);
      break;
    case Kind::kEntry: Leave(frame, search_step_.inter_mb_per_s); break;
    case Kind::kExit:
      ReleaseRoute(frame.route,
                   balanced ? Half(search_step_.inter_mb_per_s) : search_step_.inter_mb_per_s);
      break;
    case Kind::kNext: Leave(frame, search_step_.intra_mb_per_s); break;
    case Kind::kClose: ReleaseRoute(frame.route, search_step_.intra_mb_per_s); break;
    case Kind::kHead: ReleaseHead(frame.device, 2 * devices_); break;
    case Kind::kFan: ReleaseFan(frame.device, 2 * devices_); break;
    case Kind::kPass:
    case Kind::kDone: break;
  }
}

/// Removes the latest frame and undoes its effects.
void ChannelSearch::Pop() {
  SearchFrame& frame = stack_.back();
  Undo(frame);
  if (frame.kind == Kind::kDone) --channels_;
  if (frame.kind == Kind::kNext) candidates_.resize(frame.first);
  if (frame.crossroads) crossroads_.pop_back();
  stack_.pop_back();
}

/// A hash of the state that determines the rest of a channel and the later channels, except for
/// hops: the remaining bandwidth of links and NICs, the devices that the channel visited, its
/// current device, and the NICs where it must leave. Within a host, the next channel begins with
/// the same order. The order is therefore part of the state.
/// \param device  the current device; null: the channel begins
std::uint64_t ChannelSearch::State(std::optional<std::uint32_t> device) const {
  if (!options_.multi_node) {
    const std::size_t next = channels_ * devices_;  // start of the channel
    if (!device) return Scatter(laid_state_ - orders_[next - 1]);
    return Scatter(laid_state_ + orders_[next + static_cast<std::size_t>(stack_.back().step)]);
  }
  std::uint64_t at = channels_ << 32 | device.value_or(devices_);
  std::uint64_t ends = 0;
  if (options_.multi_node) {
    const bool leaves_later = search_step_.pattern == Pattern::kRing;
    if (device) ends = entry_[channels_] + 1;
    if (device && !leaves_later) ends |= (std::uint64_t{exit_[channels_]} + 1) << 16;
    if (leaves_later && search_step_.cross_nic == 2 && channels_ % 2 == 1) {
      ends |= (std::uint64_t{entry_[channels_ - 1]} + 1) << 32;
      if (!device) ends |= (std::uint64_t{exit_[channels_ - 1]} + 1) << 48;
    }
  }
  return Scatter(laid_state_ + used_state_ + nets_state_ + Scatter(at) + Scatter(~ends));
}

/// Returns true if State() covers everything that affects the result.
bool ChannelSearch::CanUseTranspositions(Mode mode) const {
  const bool chains = is_tree_ || search_step_.pattern == Pattern::kRing;
  return mode == Mode::kFree && chains && !search_step_.same_channels;
}

/// The recorded end of the latest frame's state, if the search is known to find no better result.
const TranspositionTable::End* ChannelSearch::KnownEnd(std::optional<std::uint32_t> device) {
  const std::uint64_t state = State(device);
  const TranspositionTable::End* const end = transpositions_.Find(state);
  // A plan with equal bandwidth and fewer hops would be better.
  if (end != nullptr && end->hops <= hops_) return end;
  stack_.back().crossroads = true;
  crossroads_.push_back({state, outcome_.steps, gains_});
  return nullptr;
}

/// Begins another channel after a complete one, unless its outcome is known.
void ChannelSearch::StartNext(std::uint8_t budget) {
  if (Repeats()) return Repeat(budget);
  StartChannel(budget);
  if (!CanUseTranspositions(Mode::kFree) || !(options_.multi_node || transpositions_.pays()))
    return;
  if (const TranspositionTable::End* const end = KnownEnd(std::nullopt)) Skip(*end, budget);
}

/// Counts the steps of a known state instead of searching it.
/// \return as Visit()
bool ChannelSearch::Skip(const TranspositionTable::End& end, std::uint8_t budget) {
  stack_.pop_back();
  const std::int64_t steps = std::min(end.steps, budgets_[budget]);
  budgets_[budget] -= steps;
  outcome_.steps += static_cast<std::uint64_t>(steps);
  if (steps == end.steps) return true;
  Unwind(budget);
  return false;
}

/// Records the state of the latest crossroads if the search found no improvement since.
void ChannelSearch::RecordState() {
  const RevisitableFrame& here = crossroads_.back();
  if (gains_ != here.gains) return;
  transpositions_.Add(here.state, {static_cast<std::int64_t>(outcome_.steps - here.steps), hops_});
}

/// Drops all frames of this budget.
void ChannelSearch::Unwind(std::uint8_t budget) {
  while (!stack_.empty() && (budget == 0 || stack_.back().budget == budget)) Pop();
}

/// Returns true if all channels equal the first one, so that they need no search step by step.
bool ChannelSearch::Repeats() const {
  return !options_.multi_node && search_step_.same_channels &&
         (is_tree_ || search_step_.pattern == Pattern::kRing);
}

/// Completes all copies of the latest channel that fit. Counts as if each was placed and undone.
void ChannelSearch::Repeat(std::uint8_t budget) {
  ListLatest();
  const std::int64_t steps = std::int64_t{devices_} + 1;  // of a channel
  const std::size_t most = search_step_.max_channels - channels_;
  const std::size_t more = RoomForMore(most);
  const std::int64_t left = budgets_[budget];
  if (static_cast<std::int64_t>(more) * steps > left) {
    SpendMore(left, budget);
    CompleteMore(static_cast<std::size_t>(left / steps), budget);
    return Unwind(budget);
  }
  SpendMore(static_cast<std::int64_t>(more) * steps, budget);
  CompleteMore(more, budget);
  if (more == most) return;
  const std::size_t route = FailingRoute(more);
  const std::int64_t partly = static_cast<std::int64_t>(route) + 1;
  const bool enough = partly <= budgets_[budget];
  SpendMore(enough ? partly : budgets_[budget], budget);
  if (enough)
    RefuseMore(more, route);
  else
    Unwind(budget);
}

void ChannelSearch::SpendMore(std::int64_t steps, std::uint8_t budget) {
  budgets_[budget] -= steps;
  outcome_.steps += static_cast<std::uint64_t>(steps);
}

/// Fills in latest_.
void ChannelSearch::ListLatest() {
  for (const std::uint32_t link : latest_.links) latest_.taken[link] = 0;
  latest_.links.clear();
  latest_.routes.clear();
  latest_.hops = 0;
  latest_.taken.resize(table_.link_count(), 0);
  latest_.spare.resize(table_.link_count(), 0);
  const std::uint32_t* const order = &Device(channel() - 1, 0);
  const std::uint32_t ends = search_step_.pattern == Pattern::kRing ? devices_ : devices_ - 1;
  for (std::uint32_t i = 0; i < ends; ++i) {
    const std::uint32_t next = order[i + 1 < devices_ ? i + 1 : 0];
    latest_.routes.push_back(table_.NumberOf(DeviceEnd(order[i]), DeviceEnd(next)));
    const Route& route = table_.At(latest_.routes.back());
    latest_.hops += route.hops;
    residual_.ForEachLinkLoad(route, search_step_.intra_mb_per_s,
                              [&](std::uint32_t link, std::int64_t link_load) {
                                if (latest_.taken[link] == 0) latest_.links.push_back(link);
                                latest_.taken[link] += link_load;
                              });
  }
}

/// The number of further copies of the latest channel that fit.
std::size_t ChannelSearch::RoomForMore(std::size_t most) {
  auto more = static_cast<std::int64_t>(most);
  for (const std::uint32_t link : latest_.links)
    if (residual_.left(link) < more * latest_.taken[link])
      more = residual_.left(link) / latest_.taken[link];
  return static_cast<std::size_t>(more);
}

/// The first route without room after `more` further channels.
std::size_t ChannelSearch::FailingRoute(std::size_t more) {
  const auto times = static_cast<std::int64_t>(more);
  std::size_t failing = 0;
  bool fits = true;
  // Adds up the load of the routes so far in latest_.spare.
  for (; failing < latest_.routes.size(); ++failing) {
    const auto take = [&](std::uint32_t link, std::int64_t link_load) {
      latest_.spare[link] += link_load;
      fits = fits && latest_.spare[link] <= residual_.left(link) - times * latest_.taken[link];
    };
    residual_.ForEachLinkLoad(table_.At(latest_.routes[failing]), search_step_.intra_mb_per_s,
                              take);
    if (!fits) break;
  }
  for (const std::uint32_t link : latest_.links) latest_.spare[link] = 0;
  return failing;
}

/// Counts `more` further channels as complete.
void ChannelSearch::CompleteMore(std::size_t more, std::uint8_t budget) {
  if (more == 0) return;
  const std::size_t before = channels_;
  const std::int64_t hops = static_cast<std::int64_t>(more) * latest_.hops;
  channels_ += more;
  hops_ += hops;
  outcome_.channels = std::max(outcome_.channels, channel());
  if (Better(*best_)) {
    const std::uint32_t* const order = &Device(static_cast<std::uint32_t>(before) - 1, 0);
    for (std::size_t c = before; c < channels_; ++c)
      std::copy(order, order + devices_, &order_[c * devices_]);
    Gain(budget);
  }
  channels_ = before;
  hops_ -= hops;
}

/// Records the refusal after `more` further channels.
void ChannelSearch::RefuseMore(std::size_t more, std::size_t route) {
  const std::uint64_t place = (channels_ + more) * (std::uint64_t{devices_} + 1) + route + 1;
  if (place <= farthest_) return;
  const std::int64_t mb_per_s = search_step_.intra_mb_per_s;
  const auto lay = [&](std::int64_t each) {
    for (std::size_t i = 0; i < latest_.routes.size(); ++i)
      for (std::size_t times = more + (i < route ? 1 : 0); times > 0; --times)
        residual_.ReleaseBandwidth(table_.At(latest_.routes[i]), each);
  };
  lay(-mb_per_s);
  RefuseAt(place, StepRefusal::kLink, &table_.At(latest_.routes[route]), mb_per_s);
  lay(mb_per_s);
}

/// Continues to a device if the types allow it and the route has room.
bool ChannelSearch::Enter(SearchFrame& frame, NextDevice next, std::int64_t mb_per_s) {
  if (frame.sure)
    PlaceRoute(table_.At(next.route), mb_per_s);
  else if (!ReserveRoute(next.route, frame.kind == Kind::kEntry, mb_per_s, true))
    return false;
  ToggleUsed(next.device);
  frame.undo = true;
  frame.chosen = next.device;
  frame.route = next.route;
  return true;
}

void ChannelSearch::Leave(const SearchFrame& frame, std::int64_t mb_per_s) {
  ReleaseRoute(frame.route, mb_per_s);
  ToggleUsed(frame.chosen);
}

/// Checks the types of the search step.
bool ChannelSearch::HasAllowedTypes(const Route& route, bool inter, bool checked) const {
  const PathType farthest = inter ? search_step_.type_inter : search_step_.type_intra;
  const bool too_far =
      checked && (route.type > farthest || (is_tree_ && route.back_type > farthest));
  return route.type != PathType::kDis && !too_far;
}

bool ChannelSearch::CanReserve(const Route& route) {
  return HasAllowedTypes(route, false, true) &&
         residual_.HasRoom(route, search_step_.intra_mb_per_s);
}

/// \param checked  true if the search step's types apply
bool ChannelSearch::ReserveRoute(std::uint32_t number, bool inter, std::int64_t mb_per_s,
                                 bool checked) {
  const Route& route = table_.At(number);
  if (!HasAllowedTypes(route, inter, checked)) {
    Refuse(StepRefusal::kType, nullptr, 0);
    return false;
  }
  if (!residual_.HasRoom(route, mb_per_s)) {
    Refuse(StepRefusal::kLink, &route, mb_per_s);
    return false;
  }
  PlaceRoute(route, mb_per_s);
  return true;
}

void ChannelSearch::PlaceRoute(const Route& route, std::int64_t mb_per_s) {
  residual_.ReserveBandwidth(route, mb_per_s);
  laid_state_ += route.mark * MarkOf(mb_per_s);
  hops_ += route.hops;
}

void ChannelSearch::ReleaseRoute(std::uint32_t number, std::int64_t mb_per_s) {
  const Route& route = table_.At(number);
  residual_.ReleaseBandwidth(route, mb_per_s);
  laid_state_ -= route.mark * MarkOf(mb_per_s);
  hops_ -= route.hops;
}

/// A factor for each bandwidth of the search step. Their loads round differently.
std::uint64_t ChannelSearch::MarkOf(std::int64_t mb_per_s) const {
  if (mb_per_s == search_step_.intra_mb_per_s) return 1;
  return mb_per_s == search_step_.inter_mb_per_s ? Scatter(1) : Scatter(2);
}

/// Takes one share in each direction between the switch and every device, and two for the head. Leg
/// 2d leads to device d, leg 2d + 1 back.
bool ChannelSearch::ReserveHead(std::uint32_t head) {
  const EndIndex nvs{End::kSwitch, 0};
  for (std::uint32_t leg = 0; leg < 2 * devices_; ++leg) {
    const std::uint32_t device = leg / 2;
    const EndIndex end = DeviceEnd(device);
    const std::int64_t mb_per_s =
        std::int64_t{search_step_.intra_mb_per_s} * (device == head ? 2 : 1);
    const std::uint32_t route =
        leg % 2 == 0 ? table_.NumberOf(nvs, end) : table_.NumberOf(end, nvs);
    if (ReserveRoute(route, false, mb_per_s, device != head)) continue;
    ReleaseHead(head, leg);
    return false;
  }
  return true;
}

void ChannelSearch::ReleaseHead(std::uint32_t head, std::uint32_t legs) {
  const EndIndex nvs{End::kSwitch, 0};
  for (std::uint32_t leg = 0; leg < legs; ++leg) {
    const std::uint32_t device = leg / 2;
    const EndIndex end = DeviceEnd(device);
    const std::int64_t mb_per_s =
        std::int64_t{search_step_.intra_mb_per_s} * (device == head ? 2 : 1);
    ReleaseRoute(leg % 2 == 0 ? table_.NumberOf(nvs, end) : table_.NumberOf(end, nvs), mb_per_s);
  }
}

/// Takes the head's share to each other device and back. Leg 2d leads to device d, leg 2d + 1 back.
bool ChannelSearch::ReserveFan(std::uint32_t head) {
  const std::uint32_t devices = devices_;
  const std::int64_t share = search_step_.intra_mb_per_s / std::max(devices - 1, 1u);
  for (std::uint32_t leg = 0; leg < 2 * devices; ++leg) {
    const EndIndex end = DeviceEnd(leg / 2);
    if (end.number == head) continue;
    const EndIndex from = DeviceEnd(head);
    const std::uint32_t route =
        leg % 2 == 0 ? table_.NumberOf(from, end) : table_.NumberOf(end, from);
    if (ReserveRoute(route, false, share, false)) continue;
    ReleaseFan(head, leg);
    return false;
  }
  for (std::uint32_t device = 0, step = 1; device < devices; ++device)
    if (device != head) Device(channel(), step++) = device;
  return true;
}

void ChannelSearch::ReleaseFan(std::uint32_t head, std::uint32_t legs) {
  const std::int64_t share = search_step_.intra_mb_per_s / std::max(devices_ - 1, 1u);
  for (std::uint32_t leg = 0; leg < legs; ++leg) {
    const EndIndex end = DeviceEnd(leg / 2);
    if (end.number == head) continue;
    const EndIndex from = DeviceEnd(head);
    ReleaseRoute(leg % 2 == 0 ? table_.NumberOf(from, end) : table_.NumberOf(end, from), share);
  }
}

/// Changes the load of all NICs that share the port of `net`.
void ChannelSearch::LoadNet(std::uint32_t net, std::int64_t mb_per_s) {
  for (std::uint32_t other = 0; other < net_left_.size(); ++other)
    if (nets_.PortOf(other) == nets_.PortOf(net)) net_left_[other] -= mb_per_s;
  nets_state_ += Scatter(~std::uint64_t{nets_.PortOf(net)}) * static_cast<std::uint64_t>(mb_per_s);
}

bool ChannelSearch::CanExitBy(std::uint32_t net, std::uint32_t entry, std::int32_t step) const {
  const topology::Graph& graph = table_.paths().graph();
  const topology::NetFacts& out = graph.net(table_.nets()[net]);
  const topology::NetFacts& in = graph.net(table_.nets()[entry]);
  if (out.plane && in.plane && out.plane != in.plane) return false;
  if (search_step_.pattern == Pattern::kTree && net != entry) return false;
  if (search_step_.pattern == Pattern::kRing && search_step_.cross_nic == 2) {
    if (channels_ % 2 == 1 && net != entry_[channels_ - 1]) return false;
  } else if (search_step_.cross_nic == 0 && !SameNic(net, entry)) {
    return false;
  }
  return search_step_.pattern != Pattern::kBalancedTree || step == 0 || net == exit_[channels_];
}

/// Returns true if a ring may enter by one of the NICs and leave by the other.
bool ChannelSearch::SameNic(std::uint32_t a, std::uint32_t b) const {
  const topology::Graph& graph = table_.paths().graph();
  const topology::NodeIndex node_a = table_.nets()[a], node_b = table_.nets()[b];
  const topology::NetFacts& one = graph.net(node_a);
  const topology::NetFacts& other = graph.net(node_b);
  if (one.rail && other.rail) return one.rail == other.rail;
  if (options_.rail_per_host && graph.at(node_a).host != graph.at(node_b).host)
    return one.slot == other.slot && one.port == other.port;
  return nets_.PortOf(a) == nets_.PortOf(b);
}

/// Lists the candidates for the next device, best first.
void ChannelSearch::ListCandidates(SearchFrame& frame) {
  frame.end = 0;
  const auto add = [&](const NextDevice& candidate) {
    candidates_.push_back(candidate);
    ++frame.end;
  };
  const auto next = static_cast<std::uint32_t>(frame.step) + 1;
  if (frame.mode == Mode::kIndexOrder) return add(From(DeviceEnd(frame.device), next));
  if (frame.mode == Mode::kReplay)
    return add(From(DeviceEnd(frame.device), Device(channel() - 1, next)));
  if (!table_.switches().empty()) return ListNeighbours(frame);
  const bool by_net = frame.exit_at >= 0;
  const std::optional<std::uint32_t> net = by_net ? std::optional(entry_[channels_]) : std::nullopt;
  if (ranked_.empty()) ranked_.resize((table_.net_count() + std::size_t{1}) * devices_);
  auto& ranked = ranked_[(net ? *net + 1 : 0) * devices_ + frame.device];
  if (!ranked) ranked = Rank(net, frame.device);
  bool equal = true;
  const Ranked* first = nullptr;
  const std::uint8_t* const used = &Used(channel(), 0);
  // At a new maximum of progress, also lists devices without room, to record the obstacle.
  frame.sure = Place(frame) <= farthest_;
  for (const Ranked& one : *ranked) {
    if (used[one.candidate.device] != 0) continue;
    if (first == nullptr) first = &one;
    equal = equal && one.likes == first->likes;
    if (!frame.sure || CanReserve(table_.At(one.candidate.route))) add(one.candidate);
  }
  if (!by_net || frame.end < 2) return;
  SortByPci(frame);
  if (frame.exit_at != static_cast<std::int32_t>(next) && equal)
    std::reverse(candidates_.begin() + frame.first, candidates_.end());
}

/// Among devices with equal bandwidth from the NIC, sorts by the rest of their own PCIe link.
void ChannelSearch::SortByPci(const SearchFrame& frame) {
  pci_left_.clear();
  for (std::uint32_t i = frame.first; i < candidates_.size(); ++i)
    pci_left_.push_back(PciLeftGb(candidates_[i].device));
  std::size_t group = 0;  // first candidate of equal bandwidth
  const std::int64_t* const inter = &inter_gb_[entry_[channels_] * devices_];
  NextDevice* const list = candidates_.data() + frame.first;
  for (std::size_t i = 1; i < pci_left_.size(); ++i) {
    if (inter[list[i].device] != inter[list[i - 1].device]) group = i;
    for (std::size_t at = i; at > group && pci_left_[at] > pci_left_[at - 1]; --at) {
      std::swap(pci_left_[at], pci_left_[at - 1]);
      std::swap(list[at], list[at - 1]);
    }
  }
}

std::int64_t ChannelSearch::PciLeftGb(std::uint32_t device) const {
  const auto& link = table_.PciOf(device);
  if (!link) return -1;
  return std::min(residual_.left(link->from), residual_.left(link->to)) / kMbPerGb;
}

/// All devices behind an NVSwitch are equal. The neighbours by number suffice.
void ChannelSearch::ListNeighbours(SearchFrame& frame) {
  const std::uint32_t devices = devices_;
  const std::uint32_t up = (frame.device + 1) % devices;
  const std::uint32_t down = (frame.device + devices - 1) % devices;
  const bool ring = search_step_.pattern == Pattern::kRing;
  const std::uint32_t first = ring ? down : up;
  const std::uint32_t second = ring ? up : down;
  const bool both = up != down && (ring || search_step_.pattern == Pattern::kBalancedTree ||
                                   search_step_.pattern == Pattern::kSplitTree);
  const auto offer = [&](std::uint32_t device) {
    if (Used(channel(), device) != 0) return;
    const NextDevice candidate = From(DeviceEnd(frame.device), device);
    if (table_.At(candidate.route).hops == 0) return;
    candidates_.push_back(candidate);
    ++frame.end;
  };
  offer(both ? first : up);
  if (both) offer(second);
}

/// All devices in reach, best first, by the properties that do not depend on the remaining
/// bandwidth.
std::vector<ChannelSearch::Ranked> ChannelSearch::Rank(std::optional<std::uint32_t> net,
                                                       std::uint32_t device) {
  struct Facts {
    std::uint32_t device = 0;
    std::int64_t inter_gb = 0;  // from the channel's NIC
    std::uint32_t inter_hops = 0;
    std::int64_t intra_gb = 0;  // from the previous device
    std::uint32_t hops = 0;
    std::uint32_t distance = 0;  // difference of the device numbers
  };
  std::vector<Facts> list;
  for (std::uint32_t distance = 1; distance < devices_; ++distance) {
    const std::uint32_t other = (device + distance) % devices_;
    const topology::Path path = table_.PathOf(DeviceEnd(device), DeviceEnd(other));
    if (path.hops == 0) continue;
    Facts one{other, 0, 0, WholeGb(path.bandwidth), path.hops, distance};
    if (net) {
      const topology::Path in = table_.PathOf(NetEnd(*net), DeviceEnd(other));
      one.inter_gb = WholeGb(in.bandwidth);
      one.inter_hops = in.hops;
    }
    list.push_back(one);
  }
  const auto key = [](const Facts& one) {
    return std::tuple(-one.inter_gb, one.inter_hops, -one.intra_gb, one.hops, one.distance);
  };
  std::sort(list.begin(), list.end(),
            [&](const Facts& a, const Facts& b) { return key(a) < key(b); });
  std::vector<std::pair<std::int64_t, std::uint32_t>> kinds;  // few
  std::vector<Ranked> ranked;
  ranked.reserve(list.size());
  for (const Facts& one : list) {
    const std::pair kind(one.intra_gb, one.hops);
    const auto at = std::find(kinds.begin(), kinds.end(), kind) - kinds.begin();
    if (static_cast<std::size_t>(at) == kinds.size()) kinds.push_back(kind);
    ranked.push_back({From(DeviceEnd(device), one.device), static_cast<std::uint32_t>(at)});
  }
  return ranked;
}

}  // namespace ringlet::plan
