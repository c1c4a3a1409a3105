#include "sim/network.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::sim {
namespace {

bool IsOfLine(EventKind what) {
  return what >= EventKind::kConnected;
}

std::uint64_t KeyOfIpv4(const Address& address) {
  std::uint64_t key = address.port;
  for (std::size_t i = 0; i < 4; ++i) key = key << 8 | address.ip[i];
  return key;
}

}  // namespace

// ---- Nodes and what befalls them. -------------------------------------------------------------

NodeId Network::Add(std::unique_ptr<Machine> machine, const Address& address, Instant start,
                    HostId host) {
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.emplace_back();
  nodes_.back().machine = std::move(machine);
  nodes_.back().host = host;
  fabric_.Add(host);
  if (address.kind != Address::Kind::kNone) Listen(id, address);
  Push(kOrigin + start, id, EventKind::kStart);
  return id;
}

void Network::Listen(NodeId node, const Address& address) {
  if (address.kind == Address::Kind::kIpv4) return ipv4_listeners_.Set(KeyOfIpv4(address), node);
  Address key = address;
  if (key.kind == Address::Kind::kUnix) key.scope = nodes_[node].host;
  listeners_[key] = node;
}

Address Network::AddressOn(HostId host, std::uint16_t port) {
  return Address::Ipv4(10, static_cast<std::uint8_t>(host >> 16),
                       static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host), port);
}

void Network::Kill(NodeId node, Instant when) {
  Push(kOrigin + when, node, EventKind::kKill);
}
void Network::Isolate(NodeId node, Instant when) {
  Push(kOrigin + when, node, EventKind::kSilence);
}
void Network::KillHost(HostId host, Instant when) {
  Push(kOrigin + when, host, EventKind::kKillHost);
}
void Network::IsolateHost(HostId host, Instant when) {
  Push(kOrigin + when, host, EventKind::kSilenceHost);
}
void Network::Stop(NodeId node, Instant from, Instant until) {
  Push(kOrigin + from, node, EventKind::kStop);
  Push(kOrigin + until, node, EventKind::kContinue);
}
void Network::Slow(NodeId node, Instant cpu_per_event) {
  nodes_[node].slow = true;
  cpu_per_event_[node] = cpu_per_event;
}
void Network::Cut(HostId from, HostId to, Instant begin, Instant end) {
  fabric_.Cut(from, to, kOrigin + begin, end == kForEver ? kForEver : kOrigin + end);
}

void Network::RequestTick(NodeId node, Instant when) {
  Push(when, node, EventKind::kNudge);
}

void Network::RemoveNode(NodeId node) {
  std::vector<LineId> lines;
  for (EndId end = nodes_[node].ends; end != kNone; end = lines_[end].older)
    lines.push_back(lines_[end].line);
  std::ranges::sort(lines);
  cause_ = nodes_[node].depth;
  for (const LineId line : lines) DoHangup(node, line);
  nodes_[node].dead = true;
  if (const auto held = held_.extract(node))
    for (const ScheduledEvent& due : held.mapped()) Discard(due);
  nodes_[node].crowded = false;
  if (const auto queue = queues_.extract(node))
    for (const auto& [end, dues] : queue.mapped().waiting)
      for (const ScheduledEvent& due : dues) Discard(due);
}

void Network::Continue(NodeId node) {
  nodes_[node].stopped = false;
  if (const auto held = held_.extract(node))
    for (const ScheduledEvent& due : held.mapped()) Enter(due);
}

// ---- The queue. -------------------------------------------------------------------------------

bool Network::Run(Instant until, std::uint64_t events_max) {
  halted_ = false;
  while (!halted_ && queue_.Ready(kOrigin + until)) {
    if (events_max-- == 0) return false;
    const ScheduledEvent due = queue_.Pop();
    now_ = due.when;
    ++events_;
    Carry(due);
  }
  return true;
}

void Network::Push(Instant when, std::uint32_t target, EventKind what) {
  queue_.Push({.when = std::max(when, now_), .target = target, .what = what});
}

std::uint32_t Network::Keep(PendingMessages parcel) {
  if (free_parcel_ == kNone) {
    parcels_.push_back(std::move(parcel));
    return static_cast<std::uint32_t>(parcels_.size() - 1);
  }
  const std::uint32_t index = free_parcel_;
  free_parcel_ = parcels_[index].detail;
  parcels_[index] = std::move(parcel);
  return index;
}

Network::PendingMessages Network::Take(std::uint32_t index) {
  PendingMessages parcel = std::exchange(parcels_[index], PendingMessages{.detail = free_parcel_});
  free_parcel_ = index;
  return parcel;
}

void Network::Discard(const ScheduledEvent& due) {
  if (IsOfLine(due.what)) Take(due.parcel);
}

Instant Network::Delay() {
  const auto spread =
      static_cast<std::uint64_t>((conditions_.latency_max - conditions_.latency_min).count());
  return conditions_.latency_min +
         Instant(static_cast<std::int64_t>(spread == 0 ? 0 : prng_.Below(spread + 1)));
}

void Network::Carry(const ScheduledEvent& due) {
  switch (due.what) {
    case EventKind::kStart: nodes_[due.target].started = true; break;
    case EventKind::kKill: return RemoveNode(due.target);
    case EventKind::kSilence: nodes_[due.target].silent = true; return;
    case EventKind::kStop: nodes_[due.target].stopped = true; return;
    case EventKind::kContinue: return Continue(due.target);
    case EventKind::kKillHost:
      for (NodeId node = 0; node < nodes_.size(); ++node)
        if (nodes_[node].host == due.target) RemoveNode(node);
      return;
    case EventKind::kSilenceHost: fabric_.Isolate(due.target); return;
    case EventKind::kTick:
      if (due.admitted) break;                             // already checked on arrival
      if (nodes_[due.target].tick_at != due.when) return;  // replaced by an earlier one
      nodes_[due.target].tick_at = Instant(0);
      break;
    case EventKind::kNudge:
    case EventKind::kConnected:
    case EventKind::kAccepted:
    case EventKind::kReceived:
    case EventKind::kClosed:
      if (due.at_nic) return EnterHost(due);
  }
  Enter(due);
}

void Network::EnterHost(ScheduledEvent due) {
  due.at_nic = false;
  due.when = fabric_.Enter(nodes_[due.target].host, now_, parcels_[due.parcel].bytes.size());
  queue_.Push(due);
}

// The event has reached the node. Its process may be stopped or busy.
void Network::Enter(ScheduledEvent due) {
  MachineNode& node = nodes_[due.target];
  if (node.dead || !node.started) return Discard(due);
  if (node.stopped) return held_[due.target].push_back(due);
  if (due.admitted) {
    --node.queued;
    return Handle(due);
  }
  const Instant cost = CostOf(due);
  if (cost == Instant(0) && node.queued == 0) return Handle(due);
  ++node.queued;
  due.admitted = true;
  due.when = node.busy_until = std::max(node.busy_until, now_) + cost;
  queue_.Push(due);
}

Instant Network::CostOf(const ScheduledEvent& due) const {
  const MachineNode& node = nodes_[due.target];
  if (node.host == kNoHost && !node.slow) return Instant(0);
  Instant cost = node.slow ? cpu_per_event_.at(due.target) : conditions_.cpu_per_event;
  if (due.what == EventKind::kReceived && conditions_.cpu_per_kib != Instant(0))
    cost += conditions_.cpu_per_kib * static_cast<std::int64_t>(parcels_[due.parcel].bytes.size()) /
            1024;
  return cost;
}

void Network::Handle(const ScheduledEvent& due) {
  if (!IsOfLine(due.what)) {
    cause_ = nodes_[due.target].depth;  // time passes after all earlier events here
    Deliver(due.target, Tick{});
  } else if (!MustWait(due)) {
    HandleOfLine(due);
  }
  if (nodes_[due.target].crowded) Welcome(due.target);
}

// Models the kernel's part of a connection that the process cannot accept yet. The connection
// exists, and the kernel keeps its data.
bool Network::MustWait(const ScheduledEvent& due) {
  MachineNode& node = nodes_[due.target];
  const EndId end = parcels_[due.parcel].end;
  if (due.what == EventKind::kAccepted && !node.machine->Accepting()) {
    node.crowded = true;
    Queue& queue = queues_[due.target];
    queue.callers.push_back(end);
    queue.waiting[end].push_back(due);
    return true;
  }
  if (!node.crowded) return false;
  Queue& queue = queues_.at(due.target);
  const auto waiting = queue.waiting.find(end);
  if (waiting == queue.waiting.end()) return false;
  waiting->second.push_back(due);
  return true;
}

void Network::Welcome(NodeId id) {
  while (nodes_[id].crowded && nodes_[id].machine->Accepting()) {
    Queue& queue = queues_.at(id);
    const EndId end = queue.callers.front();
    queue.callers.pop_front();
    const auto node = queue.waiting.extract(end);
    if (queue.callers.empty()) {
      nodes_[id].crowded = false;
      queues_.erase(id);
    }
    for (const ScheduledEvent& due : node.mapped()) HandleOfLine(due);
  }
}

void Network::HandleOfLine(const ScheduledEvent& due) {
  PendingMessages parcel = Take(due.parcel);
  // If the line was closed in the meantime, no node receives the event.
  if (!lines_.Is(parcel.end, due.target, parcel.line)) return;
  MachineNode& node = nodes_[due.target];
  cause_ = parcel.depth;
  node.depth = std::max(node.depth, parcel.depth);
  if (due.what == EventKind::kClosed) lines_.Close(parcel.end, node.ends);
  const Event event = EventOf(due.what, parcel, node);
  node.traffic.dialled += due.what == EventKind::kConnected;
  node.traffic.accepted += due.what == EventKind::kAccepted;
  node.traffic.messages_received += due.what == EventKind::kReceived;
  node.traffic.bytes_received += parcel.bytes.size();
  Deliver(due.target, event);
}

Event Network::EventOf(EventKind what, PendingMessages& parcel, const MachineNode& node) {
  switch (what) {
    case EventKind::kConnected: return Connected{parcel.line};
    case EventKind::kReceived:
      return Received{parcel.line, Slice(parcel.bytes, std::move(parcel.owner)), {}};
    case EventKind::kClosed:
      return Closed{parcel.line, parcel.detail == kRefused ? "connection refused"
                                                           : "connection closed by the peer"};
    case EventKind::kStart:
    case EventKind::kTick:
    case EventKind::kNudge:
    case EventKind::kKill:
    case EventKind::kSilence:
    case EventKind::kStop:
    case EventKind::kContinue:
    case EventKind::kKillHost:
    case EventKind::kSilenceHost:
    case EventKind::kAccepted: break;
  }
  const auto port = static_cast<std::uint16_t>(parcel.detail);  // an ephemeral port
  const HostId from = nodes_[parcel.detail].host;
  if (from == kNoHost) return Accepted{parcel.line, Address::Ipv4(192, 0, 2, 1, port)};
  if (from != node.host) return Accepted{parcel.line, AddressOn(from, port)};
  return Accepted{parcel.line, Address::Unix(fmt::format("node-{}", parcel.detail))};
}

void Network::Deliver(NodeId id, const Event& event) {
  MachineNode& node = nodes_[id];
  Note_(static_cast<std::uint64_t>(now_.count()));
  Note_(id);
  Note_(event.index());
  node.machine->Handle(event, now_);
  while (auto action = node.machine->PollAction()) Apply(id, *action);
  if (const auto deadline = node.machine->Deadline()) {
    const Instant when = std::max(*deadline, now_ + Instant(1));
    if (node.tick_at == Instant(0) || node.tick_at > when) {
      node.tick_at = when;
      Push(when, id, EventKind::kTick);
    }
  }
  if (observer_) observer_(id);
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

// ---- Lines. -----------------------------------------------------------------------------------

std::optional<NodeId> Network::ListenerAt(const Address& address, HostId dialled_from) const {
  if (address.kind == Address::Kind::kIpv4) return ipv4_listeners_.Find(KeyOfIpv4(address));
  Address key = address;
  if (key.kind == Address::Kind::kUnix) key.scope = dialled_from;
  const auto found = listeners_.find(key);
  return found == listeners_.end() ? std::nullopt : std::optional(found->second);
}

// Returns true if data that `from` sends now cannot reach `to`.
bool Network::IsUnreachable(NodeId from, NodeId to) const {
  const MachineNode& source = nodes_[from];
  const MachineNode& target = nodes_[to];
  if (source.silent || target.silent) return true;
  if (source.host == target.host || source.host == kNoHost || target.host == kNoHost) return false;
  return !fabric_.DepartureTime(source.host, target.host, now_);
}

void Network::DoDial(NodeId node, const Dial& dial) {
  const bool is_unix = dial.to.kind == Address::Kind::kUnix;
  const auto to = ListenerAt(dial.to, nodes_[node].host);
  const EndId end = lines_.Open(node, dial.line, nodes_[node].ends);
  // A pulled cable sends no refusals.
  const bool hosted = nodes_[node].host != kNoHost;
  if (hosted && to && (IsUnreachable(node, *to) || IsUnreachable(*to, node))) return;
  const bool refused =
      !to || !nodes_[*to].started || nodes_[*to].dead || prng_.Chance(conditions_.refuse);
  if (refused) {
    Instant when = now_ + (is_unix ? conditions_.local_latency : Delay());
    if (hosted && !is_unix) when += Delay();
    return PushTo(end, when, EventKind::kClosed, {.depth = cause_ + 2, .detail = kRefused});
  }
  if (IsUnreachable(node, *to)) return;  // the SYN is lost; only a deadline helps
  MachineNode& target = nodes_[*to];
  const EndId accepted = lines_.Open(*to, target.next_accepted++, target.ends);
  lines_.Connect(end, accepted);
  Establish(end, accepted, is_unix);
}

// TCP: the dialling side receives the SYN/ACK after two latencies, the other its ACK after three.
void Network::Establish(EndId from, EndId to, bool is_unix) {
  const NodeId dialler = lines_[from].node;
  const HostId here = nodes_[dialler].host, there = nodes_[lines_[to].node].host;
  if (here == kNoHost || there == kNoHost) {
    PushOnLine(dialler, to, EventKind::kAccepted, {.depth = cause_ + 1, .detail = dialler});
    return PushOnLine(dialler, from, EventKind::kConnected, {.depth = cause_ + 1});
  }
  const auto latency = [&] { return here == there ? conditions_.local_latency : Delay(); };
  Instant connected = now_ + latency();
  if (is_unix) {  // connect() returns at once
    PushTo(from, connected, EventKind::kConnected, {.depth = cause_ + 1});
    return PushTo(to, connected, EventKind::kAccepted, {.depth = cause_ + 1, .detail = dialler});
  }
  connected += latency();
  if (here != there)
    for (const auto& way :
         {fabric_.DepartureTime(here, there, now_), fabric_.DepartureTime(there, here, now_)})
      connected += way.value_or(now_) - now_;
  PushTo(from, connected, EventKind::kConnected, {.depth = cause_ + 2});
  PushTo(to, connected + latency(), EventKind::kAccepted, {.depth = cause_ + 3, .detail = dialler});
}

void Network::PushTo(EndId end, Instant when, EventKind what, PendingMessages parcel, bool at_nic) {
  LineEnd& to = lines_[end];
  to.last_arrival = when;
  parcel.end = end;
  parcel.line = to.line;
  const NodeId target = to.node;
  queue_.Push({.when = when,
               .target = target,
               .parcel = Keep(std::move(parcel)),
               .what = what,
               .at_nic = at_nic});
}

void Network::PushOnLine(NodeId from, EndId end, EventKind what, PendingMessages parcel) {
  const LineEnd& to = lines_[end];
  const HostId here = nodes_[from].host, there = nodes_[to.node].host;
  const Instant last = to.last_arrival;
  if (here == kNoHost || there == kNoHost)
    return PushTo(end, std::max(last + Instant(1), now_ + Delay()), what, std::move(parcel));
  if (here == there) return PushTo(end, now_ + conditions_.local_latency, what, std::move(parcel));
  const Instant left = fabric_.Leave(here, now_, parcel.bytes.size());
  const Instant latency = Delay();
  const std::optional<Instant> sets_out = fabric_.DepartureTime(here, there, left);
  if (!sets_out) return;  // the cable was pulled while the data waited for the card
  PushTo(end, std::max(last, *sets_out + latency), what, std::move(parcel), true);
}

void Network::DoSend(NodeId node, const Send& send) {
  const EndId end = lines_.Find(node, send.line);
  if (end == kNone || send.data.bytes.empty()) return;
  const EndId to = lines_[end].peer;
  if (to == kNone) return;  // not connected
  nodes_[node].traffic.messages_sent += 1;
  nodes_[node].traffic.bytes_sent += send.data.bytes.size();
  if (IsUnreachable(node, lines_[to].node)) return;
  Slice data = send.data.Owned();
  if (conditions_.corrupt > 0 && prng_.Chance(conditions_.corrupt)) data = Corrupted(data);
  for (std::size_t at = 0; at < data.bytes.size();) {
    std::size_t piece = data.bytes.size() - at;
    if (conditions_.chunk_max != Conditions::kUncut)
      piece = std::min<std::size_t>(piece, 1 + prng_.Below(conditions_.chunk_max));
    PushOnLine(node, to, EventKind::kReceived,
               {.owner = data.owner, .bytes = data.bytes.subspan(at, piece), .depth = cause_ + 1});
    at += piece;
  }
}

Slice Network::Corrupted(const Slice& data) {
  Bytes bytes(data.bytes.begin(), data.bytes.end());
  std::byte& victim = bytes[prng_.Below(bytes.size())];
  victim ^= static_cast<std::byte>(1 + prng_.Below(255));
  return Slice(Share(std::move(bytes)));
}

void Network::DoHangup(NodeId node, LineId line) {
  const EndId end = lines_.Find(node, line);
  if (end == kNone) return;
  const EndId to = lines_[end].peer;
  lines_.Close(end, nodes_[node].ends);
  if (to == kNone || IsUnreachable(node, lines_[to].node)) return;
  PushOnLine(node, to, EventKind::kClosed, {.depth = cause_ + 1, .detail = kHungUp});
}

}  // namespace ringlet::sim
