#include "sim/network.hpp"

#include <algorithm>

#include "ringlet/status.hpp"

namespace ringlet::sim {

NodeId Network::Add(std::unique_ptr<Machine> machine, const Address& address, Instant start) {
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.emplace_back();
  nodes_.back().machine = std::move(machine);
  if (address.kind != Address::Kind::kNone) listeners_[address] = id;
  Push(kOrigin + start, id, What::kStart);
  return id;
}

void Network::Kill(NodeId node, Instant when) {
  Push(kOrigin + when, node, What::kKill);
}
void Network::Silence(NodeId node, Instant when) {
  Push(kOrigin + when, node, What::kSilence);
}
void Network::Nudge(NodeId node, Instant when) {
  Push(when, node, What::kEvent, Tick{});
}

bool Network::Run(Instant until, std::uint64_t events_max) {
  while (!queue_.empty() && queue_.top().when <= kOrigin + until) {
    if (events_max-- == 0) return false;
    // The queue hands out const references; the item is popped at once, so moving out is sound.
    const Item item = std::move(const_cast<Item&>(queue_.top()));
    queue_.pop();
    now_ = item.when;
    ++events_;
    Carry(item);
  }
  return true;
}

void Network::Push(Instant when, NodeId node, What what, Event event, SharedBytes keep) {
  queue_.push(Item{when, sequence_++, node, what, std::move(event), std::move(keep)});
}

Instant Network::Delay() {
  const auto spread =
      static_cast<std::uint64_t>((conditions_.latency_max - conditions_.latency_min).count());
  return conditions_.latency_min +
         Instant(static_cast<std::int64_t>(spread == 0 ? 0 : prng_.Below(spread + 1)));
}

void Network::Carry(const Item& item) {
  Node& node = nodes_[item.node];
  switch (item.what) {
    case What::kStart: node.started = true; return Deliver(item.node, Tick{});
    case What::kKill: return Die(item.node);
    case What::kSilence: node.silent = true; return;
    case What::kTick:
      if (node.tick_at != item.when) return;  // overtaken by an earlier one
      node.tick_at = Instant(0);
      return Deliver(item.node, Tick{});
    case What::kEvent: break;
  }
  // A line that was hung up on in the meantime has nobody who would hear.
  const auto gone = [&](LineId line) { return !node.ends.contains(line); };
  if (const auto* received = std::get_if<Received>(&item.event); received && gone(received->line))
    return;
  if (const auto* connected = std::get_if<Connected>(&item.event);
      connected && gone(connected->line))
    return;
  if (const auto* closed = std::get_if<Closed>(&item.event)) {
    if (gone(closed->line)) return;
    node.ends.erase(closed->line);
  }
  Deliver(item.node, item.event);
}

void Network::Deliver(NodeId id, const Event& event) {
  Node& node = nodes_[id];
  if (node.dead || !node.started) return;
  Note_(static_cast<std::uint64_t>(now_.count()));
  Note_(id);
  Note_(event.index());
  node.machine->Handle(event, now_);
  while (auto action = node.machine->PollAction()) Apply(id, *action);
  const auto deadline = node.machine->Deadline();
  if (!deadline) return;
  const Instant when = std::max(*deadline, now_ + Instant(1));
  if (node.tick_at != Instant(0) && node.tick_at <= when) return;
  node.tick_at = when;
  Push(when, id, What::kTick);
}

void Network::Apply(NodeId node, Action& action) {
  std::visit(Overloaded{
                 [&](const Dial& dial) { DoDial(node, dial); },
                 [&](const Send& send) { DoSend(node, send); },
                 [&](const Hangup& hangup) { DoHangup(node, hangup.line); },
                 [&](const Detach&) {},
                 [&](const Note& note) { notes_.push_back(note.text); },
             },
             action);
}

void Network::DoDial(NodeId node, const Dial& dial) {
  const auto it = listeners_.find(dial.to);
  const bool refused = it == listeners_.end() || !nodes_[it->second].started ||
                       nodes_[it->second].dead || prng_.Chance(conditions_.refuse);
  nodes_[node].ends[dial.line] = EndState{{node, dial.line}, Instant(0)};
  if (refused)
    return Push(now_ + Delay(), node, What::kEvent, Closed{dial.line, "connection refused"});
  const NodeId to = it->second;
  if (nodes_[to].silent || nodes_[node].silent) return;  // the SYN is lost; only a deadline helps
  const LineId accepted = nodes_[to].next_accepted++;
  nodes_[node].ends[dial.line].other = {to, accepted};
  nodes_[to].ends[accepted] = EndState{{node, dial.line}, Instant(0)};
  Address from = Address::Ipv4(192, 0, 2, 1, static_cast<std::uint16_t>(node));
  PushOnLine({to, accepted}, Accepted{accepted, std::move(from)});
  PushOnLine({node, dial.line}, Connected{dial.line});
}

void Network::PushOnLine(const End& to, Event event, SharedBytes keep) {
  Instant& last = nodes_[to.node].ends.at(to.line).last_arrival;
  last = std::max(last + Instant(1), now_ + Delay());
  Push(last, to.node, What::kEvent, std::move(event), std::move(keep));
}

void Network::DoSend(NodeId node, const Send& send) {
  const auto it = nodes_[node].ends.find(send.line);
  if (it == nodes_[node].ends.end()) return;
  const End to = it->second.other;
  if (to.node == node && to.line == send.line) return;  // not connected
  if (nodes_[node].silent || nodes_[to.node].silent || !nodes_[to.node].ends.contains(to.line))
    return;
  const Slice data = send.data.Owned();
  for (std::size_t at = 0; at < data.bytes.size();) {
    const std::size_t piece =
        std::min<std::size_t>(data.bytes.size() - at, 1 + prng_.Below(conditions_.chunk_max));
    PushOnLine(to, Received{to.line, Slice(data.bytes.subspan(at, piece), data.owner), {}},
               data.owner);
    at += piece;
  }
}

void Network::DoHangup(NodeId node, LineId line) {
  const auto it = nodes_[node].ends.find(line);
  if (it == nodes_[node].ends.end()) return;
  const End to = it->second.other;
  nodes_[node].ends.erase(it);
  if (to.node == node || nodes_[node].silent || nodes_[to.node].silent) return;
  if (nodes_[to.node].ends.contains(to.line))
    PushOnLine(to, Closed{to.line, "connection closed by the peer"});
}

void Network::Die(NodeId node) {
  std::vector<LineId> lines;
  for (const auto& [line, state] : nodes_[node].ends) lines.push_back(line);
  for (const LineId line : lines) DoHangup(node, line);
  nodes_[node].dead = true;
}

}  // namespace ringlet::sim
