#include "transport/wireup/wireup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::transport {
namespace {

constexpr Instant kNever = Instant(0);
constexpr std::size_t kNamedMax = 8;  // peers that an error describes; it counts the rest

std::string Named(Rank rank, const std::string& host) {
  return fmt::format("rank {} on {}", Index(rank), host);
}

}  // namespace

Wireup::Wireup(WireupConfig config)
    : config_(std::move(config)),
      nonces_(config_.nonce_seed),
      acceptor_({.credentials = config_.credentials,
                 .payload_bytes_max = kWireupPayloadBytesMax,
                 .options = {},
                 .callers = {.owner = fmt::format("rank {}, while connecting", Index(config_.self)),
                             .half_open_max =
                                 std::max(config_.limits.callers_max, 2 * config_.peers.size()),
                             .timeout = config_.limits.handshake_timeout}},
                nonces_, [this](Action action) { Emit(std::move(action)); }) {
  for (WireupPeer& peer : config_.peers) AddPeer(std::move(peer));
  config_.peers.clear();
}

void Wireup::AddPeer(WireupPeer config) {
  RINGLET_ASSERT(config.rank != config_.self &&
                 config.descriptors.size() <= kDescriptorsPerOfferMax);
  const std::size_t index = peers_.size();
  RINGLET_ASSERT(peer_of_strand_.emplace(std::pair(config.rank, config.strand), index).second);
  Peer& peer = peers_.emplace_back();
  peer.config = std::move(config);
  if (peer.config.role == WireupPeer::Role::kAccept) return;
  DialTiming timing = config_.limits.dialling;
  if (!peer.config.best_first) timing.hesitation = Instant(0);
  peer.dialler.emplace(DiallerConfig{.addresses = peer.config.addresses,
                                     .credentials = config_.credentials,
                                     .purpose = peer.config.purpose,
                                     .payload_bytes_max = kWireupPayloadBytesMax,
                                     .options = {},
                                     .timing = timing},
                       nonces_, next_line_,
                       [this, index](Action action) { EmitOf(index, std::move(action)); });
}

// Emits an action of a peer's dialler and keeps track of the line that it concerns.
void Wireup::EmitOf(std::size_t peer, Action action) {
  if (const auto* const dial = std::get_if<Dial>(&action)) peer_of_line_[dial->line] = peer;
  if (const auto* const hangup = std::get_if<Hangup>(&action)) peer_of_line_.erase(hangup->line);
  Emit(std::move(action));
}

// ---- events -----------------------------------------------------------------------------------

void Wireup::Handle(const Event& event, Instant now) {
  now_ = now;
  if (!started_) Begin(now);
  std::visit(Overloaded{
                 [&](const Connected& connected) {
                   const auto it = peer_of_line_.find(connected.line);
                   if (it == peer_of_line_.end()) return;
                   if (auto& dialler = peers_[it->second].dialler;
                       dialler && dialler->Owns(connected.line))
                     dialler->OnConnected(connected);
                 },
                 [&](const Accepted& accepted) {
                   if (outcome_) return Emit(Hangup{accepted.line});
                   acceptor_.OnAccepted(accepted, now);
                 },
                 [&](const Received& received) { OnReceived(received, now); },
                 [&](const Closed& closed) { OnClosed(closed, now); },
                 [](const Tick&) {},
             },
             event);
  if (outcome_) return;
  acceptor_.Expire(now);
  Advance(now);
  Conclude(now);
}

void Wireup::Begin(Instant now) {
  started_ = true;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i].dialler) peers_[i].dialler->Advance(now);
    Await(i);
  }
}

void Wireup::OnReceived(const Received& received, Instant now) {
  if (const auto caller = acceptor_.OnReceived(received)) return OnCaller(*caller);
  const auto it = peer_of_line_.find(received.line);
  if (it == peer_of_line_.end()) return;
  const std::size_t index = it->second;
  Peer& peer = peers_[index];
  if (peer.opened && peer.opened->made.line == received.line) {
    const Status pushed = peer.opened->made.wire.Push(received);
    return pushed.ok() ? ListenTo(index, now)
                       : DropLineAndRedial(index, pushed.error().message, now, true);
  }
  if (!peer.dialler || !peer.dialler->Owns(received.line)) return;
  if (auto made = peer.dialler->OnReceived(received, now))
    return OnOpen(index, std::move(*made), now);
  Await(index);
}

void Wireup::OnClosed(const Closed& closed, Instant now) {
  if (acceptor_.OnClosed(closed.line)) return;
  const auto it = peer_of_line_.find(closed.line);
  if (it == peer_of_line_.end()) return;
  const std::size_t index = it->second;
  Peer& peer = peers_[index];
  if (peer.met && peer.met->line == closed.line) return MarkDisconnected(closed.line, now);
  peer_of_line_.erase(it);
  if (peer.opened && peer.opened->made.line == closed.line)
    return DropLineAndRedial(index, closed.why, now, false);
  if (peer.dialler) peer.dialler->OnClosed(closed.line, closed.why, now);
  Await(index);
}

// ---- a peer that was reached ------------------------------------------------------------------

// The peer has proved that it knows the secret.
void Wireup::OnOpen(std::size_t index, Dialler::Opened made, Instant now) {
  Peer& peer = peers_[index];
  peer.opened = ProvenLine{std::move(made), now + config_.limits.handshake_timeout};
  Introduce(peer.opened->made.line, peer);
  ListenTo(index, now);
}

void Wireup::ListenTo(std::size_t index, Instant now) {
  Await(index);
  Dialler::Opened& made = peers_[index].opened->made;
  const auto frame = made.wire.Next();
  if (!frame.ok()) return DropLineAndRedial(index, frame.error().message, now, true);
  if (!*frame) return;
  auto said = ParseWireup(**frame, made.wire.descriptors());
  if (!said.ok()) return DropLineAndRedial(index, said.error().message, now, true);
  if (const auto* const refusal = std::get_if<WireupRefusal>(&*said))
    return DropLineAndRedial(index, "it refused: " + refusal->why, now, true);
  auto& hello = std::get<WireupHello>(*said);
  const WireupPeer& config = peers_[index].config;
  if (hello.from != config.rank || hello.strand != config.strand || hello.to != config_.self)
    return DropLineAndRedial(index, fmt::format("rank {} answered there", Index(hello.from)), now,
                             true);
  peers_[index].reached = made.address;
  MarkConnected(index, made.line, made.wire, std::move(hello));
}

// Gives up the line to the peer and dials again.
void Wireup::DropLineAndRedial(std::size_t index, const std::string& why, Instant now,
                               bool hangup) {
  Peer& peer = peers_[index];
  const Dialler::Opened made = std::move(std::exchange(peer.opened, std::nullopt)->made);
  if (hangup) EmitOf(index, Hangup{made.line});
  peer.dialler->Resume(made.address, why, now);
  Await(index);
}

void Wireup::OnCaller(const Acceptor::FirstFrame& caller) {
  const auto said = ParseWireup(caller.frame, acceptor_.Find(caller.line)->descriptors());
  if (!said.ok()) return acceptor_.RejectCaller(caller.line, said.error().message);
  const auto* const hello = std::get_if<WireupHello>(&*said);
  if (!hello)
    return acceptor_.RejectCaller(caller.line, "it refused: " + std::get<WireupRefusal>(*said).why);
  if (const std::string why = WhyUnexpected(*hello, caller.purpose); !why.empty())
    return acceptor_.RejectCaller(caller.line, why, Encode(WireupRefusal{why}));
  const std::size_t index = peer_of_strand_.at({hello->from, hello->strand});
  Wire wire = acceptor_.Take(caller.line).line;
  Introduce(caller.line, peers_[index]);
  MarkConnected(index, caller.line, wire, *hello);
}

std::string Wireup::WhyUnexpected(const WireupHello& hello, Purpose purpose) const {
  if (hello.to != config_.self)
    return fmt::format("connection for rank {} reached rank {} (stale address?)", Index(hello.to),
                       Index(config_.self));
  const auto known = peer_of_strand_.find({hello.from, hello.strand});
  if (known != peer_of_strand_.end()) {
    const WireupPeer& peer = peers_[known->second].config;
    if (peer.role == WireupPeer::Role::kAccept && peer.purpose == purpose) return "";
  }
  return fmt::format("rank {} does not expect such a call from rank {}", Index(config_.self),
                     Index(hello.from));
}

void Wireup::MarkConnected(std::size_t index, LineId line, Wire& wire, WireupHello hello) {
  Peer& peer = peers_[index];
  if (peer.met) {
    peer_of_line_.erase(peer.met->line);  // the peer dialled again, so its first line is broken
    --met_count_;
  }
  peer.met = ConnectedPeer{.peer = peer.config.rank,
                           .line = line,
                           .offer = std::move(hello.offer),
                           .descriptors = wire.TakeDescriptors(),
                           .unread = wire.TakeUnread()};
  peer.opened.reset();
  peer_of_line_[line] = index;
  ++met_count_;
  Emit(Detach{line});
  Await(index);
}

// Handles a line that broke while it was handed over.
void Wireup::MarkDisconnected(LineId line, Instant now) {
  const std::size_t index = peer_of_line_.at(line);
  Peer& peer = peers_[index];
  peer_of_line_.erase(line);
  peer.met.reset();
  --met_count_;
  if (outcome_) {
    outcome_ = Error{Code::kPeerLost, fmt::format("{} hung up while connecting",
                                                  Named(peer.config.rank, peer.config.host))};
    return;
  }
  if (peer.dialler) peer.dialler->Resume(peer.reached, "it hung up", now);
  Await(index);
}

// Sends the hello after the proof as its own frame, so that descriptors arrive after the proof.
void Wireup::Introduce(LineId line, const Peer& peer) {
  Bytes frame =
      Encode(WireupHello{.from = config_.self,
                         .to = peer.config.rank,
                         .descriptors = static_cast<std::uint8_t>(peer.config.descriptors.size()),
                         .offer = peer.config.offer,
                         .strand = peer.config.strand});
  Emit(Send{line, Slice(Share(std::move(frame))), peer.config.descriptors});
}

// ---- time -------------------------------------------------------------------------------------

// Records when the peer needs attention next.
void Wireup::Await(std::size_t index) {
  Peer& peer = peers_[index];
  due_.erase({peer.due, index});
  peer.due = kNever;
  if (peer.opened)
    peer.due = peer.opened->expires;
  else if (peer.dialler && !peer.met)
    peer.due = peer.dialler->Deadline().value_or(kNever);
  if (peer.due != kNever) due_.emplace(peer.due, index);
}

void Wireup::Advance(Instant now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const std::size_t index = due_.begin()->second;
    Peer& peer = peers_[index];
    if (peer.opened) {
      DropLineAndRedial(index, "it knows the secret, but did not introduce itself", now, true);
    } else {
      peer.dialler->Advance(now);
      Await(index);
    }
  }
}

std::optional<Instant> Wireup::Deadline() const {
  if (outcome_) return std::nullopt;
  Instant deadline = config_.deadline;
  if (!due_.empty()) deadline = std::min(deadline, due_.begin()->first);
  if (const auto due = acceptor_.Deadline(now_)) deadline = std::min(deadline, *due);
  return deadline;
}

void Wireup::Conclude(Instant now) {
  if (met_count_ == peers_.size()) {
    std::vector<ConnectedPeer> all;
    for (const Peer& peer : peers_) all.push_back(*peer.met);
    Finish(std::move(all));
  } else if (now >= config_.deadline) {
    Finish(Missing());
  }
}

void Wireup::Finish(Result<std::vector<ConnectedPeer>> outcome) {
  if (auto note = acceptor_.log().Summary()) Emit(std::move(*note));
  acceptor_.Clear();
  for (Peer& peer : peers_) {
    if (peer.opened) Emit(Hangup{peer.opened->made.line});
    peer.opened.reset();
    if (peer.dialler) peer.dialler->Stop();
  }
  due_.clear();
  outcome_ = std::move(outcome);
}

// ---- outcome ----------------------------------------------------------------------------------

std::optional<std::pair<std::size_t, ConnectedPeer>> Wireup::ConnectedPeerOn(LineId line) const {
  const auto it = peer_of_line_.find(line);
  if (it == peer_of_line_.end()) return std::nullopt;
  const auto& met = peers_[it->second].met;
  if (!met || met->line != line) return std::nullopt;
  return std::pair(it->second, *met);
}

std::string Wireup::FailureText(const Peer& peer) const {
  std::string why = "it has not called";
  if (peer.dialler) why = peer.dialler->Reasons();
  if (peer.opened) why = ToString(peer.opened->made.address) + ": it did not introduce itself";
  return fmt::format("{} ({})", Named(peer.config.rank, peer.config.host), why);
}

Error Wireup::Missing() const {
  std::string missing;
  std::set<Rank> all, absent;  // each rank once, even with several strands
  for (const Peer& peer : peers_) {
    all.insert(peer.config.rank);
    if (peer.met || !absent.insert(peer.config.rank).second || absent.size() > kNamedMax) continue;
    missing += (missing.empty() ? "" : "; ") + FailureText(peer);
  }
  if (absent.size() > kNamedMax) missing += fmt::format("; and {} more", absent.size() - kNamedMax);
  const RejectionLog& log = acceptor_.log();
  if (log.turned_away() > 0)
    missing += fmt::format("; callers turned away: {}, the last {}", log.turned_away(), log.last());
  if (log.left() > 0)
    missing +=
        fmt::format("; callers that hung up before they introduced themselves: {}", log.left());
  return Error{Code::kTimeout,
               fmt::format("rank {} is not connected with {} of {} peers in time: {}",
                           Index(config_.self), absent.size(), all.size(), missing)};
}

}  // namespace ringlet::transport
