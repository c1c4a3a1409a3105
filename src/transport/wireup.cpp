#include "transport/wireup.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/digest.hpp"

namespace ringlet::transport {
namespace {

constexpr Instant kNever = Instant(0);
constexpr std::size_t kNamedMax = 8;  // peers that an error describes; the rest are counted

std::string Named(Rank rank, const std::string& host) {
  return fmt::format("rank {} on {}", Index(rank), host);
}

}  // namespace

Wireup::Wireup(WireupConfig config)
    : config_(std::move(config)),
      nonces_(config_.nonce_seed),
      jitter_(DigestOf(View(config_.nonce_seed))) {
  for (WireupPeer& peer : config_.peers) {
    RINGLET_ASSERT(peer.rank != config_.self && peer.descriptors.size() <= kDescriptorsPerOfferMax);
    const std::size_t index = peers_.size();
    RINGLET_ASSERT(peer_of_strand_.emplace(std::pair(peer.rank, peer.strand), index).second);
    peers_.push_back(Peer{std::move(peer), {}, 0, {}});
    Peer& added = peers_.back();
    if (added.config.role == WireupPeer::Role::kAccept) continue;
    for (const Address& address : added.config.addresses) {
      added.candidates.push_back(candidates_.size());
      candidates_.push_back(
          Candidate{.peer = index, .address = address, .retry = config_.limits.retry_first});
    }
  }
  config_.peers.clear();
}

// ---- events -----------------------------------------------------------------------------------

void Wireup::Handle(const Event& event, Instant now) {
  if (!started_) {
    started_ = true;
    for (const Peer& peer : peers_)
      for (std::size_t i = 0; i < peer.candidates.size(); ++i) {
        const bool waits = peer.config.preferred && *peer.config.preferred != i;
        Schedule(peer.candidates[i], waits ? now + config_.limits.hesitation : now);
      }
  }
  std::visit(Overloaded{
                 [&](const Connected& connected) { OnConnected(connected.line); },
                 [&](const Accepted& accepted) { OnAccepted(accepted, now); },
                 [&](const Received& received) { OnReceived(received, now); },
                 [&](const Closed& closed) { OnClosed(closed, now); },
                 [](const Tick&) {},
             },
             event);
  if (outcome_) return;
  Expire(now);
  DialDue(now);
  Conclude(now);
}

void Wireup::OnConnected(LineId id) {
  const auto it = lines_.find(id);
  if (it == lines_.end() || !it->second.candidate) return;
  candidates_[*it->second.candidate].last = "connected, but it did not answer";
  Emit(Send{id, Slice(Share(it->second.wire.TakeReply()))});
}

void Wireup::OnAccepted(const Accepted& accepted, Instant now) {
  if (outcome_) return Emit(Hangup{accepted.line});
  const auto oldest = lines_.lower_bound(kFirstAcceptedLine);
  const std::size_t callers_max = std::max(config_.limits.callers_max, 2 * peers_.size());
  if (accepted_count_ >= callers_max && oldest != lines_.end())
    Fail(oldest, "too many connections at once that have not authenticated", now, true);
  Line line{.wire = WireupLine(Handshake::Acceptor(config_.credentials, nonces_.Next())),
            .candidate = {},
            .from = accepted.from};
  const auto it = lines_.emplace(accepted.line, std::move(line)).first;
  ++accepted_count_;
  SetDeadline(it, now + config_.limits.handshake_timeout);
}

void Wireup::OnReceived(const Received& received, Instant now) {
  const auto it = lines_.find(received.line);
  if (it == lines_.end()) return;
  WireupLine& wire = it->second.wire;
  const Status pushed = wire.Push(received);
  if (!pushed.ok()) {
    // What the caller did wrong is in the reply, if anything is.
    if (Bytes reply = wire.TakeReply(); !reply.empty())
      Emit(Send{received.line, Slice(Share(std::move(reply)))});
    return Fail(it, pushed.error().message, now, true);
  }
  if (wire.JustOpened()) {
    OnOpen(it, now);
    if (!lines_.contains(received.line)) return;
  } else if (Bytes reply = wire.TakeReply(); !reply.empty()) {
    Emit(Send{received.line, Slice(Share(std::move(reply)))});
  }
  auto heard = wire.Next();
  if (!heard.ok()) return Fail(it, heard.error().message, now, true);
  if (*heard) OnHeard(it, std::move(**heard), now);
}

void Wireup::OnClosed(const Closed& closed, Instant now) {
  if (peer_of_met_line_.contains(closed.line)) return Unmeet(closed.line, now);
  const auto it = lines_.find(closed.line);
  if (it == lines_.end()) return;
  Fail(it, closed.why, now, false);
}

// The other side knows the secret.
void Wireup::OnOpen(Lines::iterator line, Instant now) {
  if (!line->second.candidate) return;  // a caller introduces itself first
  Peer& peer = peers_[candidates_[*line->second.candidate].peer];
  peer.chosen = line->first;
  candidates_[*line->second.candidate].last = "it knows the secret, but did not introduce itself";
  StopDialling(peer, line->first);
  Introduce(line->first, peer, line->second.wire.TakeReply());
  SetDeadline(line, now + config_.limits.handshake_timeout);
}

void Wireup::OnHeard(Lines::iterator line, Heard heard, Instant now) {
  const bool dialled = line->second.candidate.has_value();
  if (auto* const refusal = std::get_if<Refusal>(&heard))
    return Fail(line, "it refused: " + refusal->why, now, true);
  auto& hello = std::get<WireupHello>(heard);
  return dialled ? OnAnswer(line, std::move(hello), now) : OnCaller(line, std::move(hello));
}

void Wireup::OnCaller(Lines::iterator line, WireupHello hello) {
  if (hello.to != config_.self)
    return Refuse(line, fmt::format("connection for rank {} reached rank {} (stale address?)",
                                    Index(hello.to), Index(config_.self)));
  const auto known = peer_of_strand_.find({hello.from, hello.strand});
  Peer* const peer = known == peer_of_strand_.end() ? nullptr : &peers_[known->second];
  if (!peer || peer->config.role != WireupPeer::Role::kAccept ||
      peer->config.purpose != line->second.wire.purpose())
    return Refuse(line, fmt::format("rank {} does not expect such a call from rank {}",
                                    Index(config_.self), Index(hello.from)));
  Introduce(line->first, *peer, {});
  MarkMet(line, *peer, std::move(hello));
}

void Wireup::OnAnswer(Lines::iterator line, WireupHello hello, Instant now) {
  Peer& peer = peers_[candidates_[*line->second.candidate].peer];
  if (hello.from != peer.config.rank || hello.strand != peer.config.strand ||
      hello.to != config_.self)
    return Fail(line, fmt::format("rank {} answered there", Index(hello.from)), now, true);
  MarkMet(line, peer, std::move(hello));
}

void Wireup::MarkMet(Lines::iterator line, Peer& peer, WireupHello hello) {
  Met met{.peer = peer.config.rank,
          .line = line->first,
          .offer = std::move(hello.offer),
          .descriptors = line->second.wire.TakeDescriptors(),
          .unread = line->second.wire.TakeUnread()};
  if (peer.met) {
    peer_of_met_line_.erase(peer.met->line);  // it redialled: its first line broke
    --met_count_;
  }
  Emit(Detach{line->first});
  if (line->second.candidate) candidates_[*line->second.candidate].line = 0;
  peer_of_met_line_[line->first] = static_cast<std::size_t>(&peer - peers_.data());
  peer.met = std::move(met);
  peer.chosen = 0;
  ++met_count_;
  Forget(line);
}

// A line that is being handed over broke first.
void Wireup::Unmeet(LineId id, Instant now) {
  Peer& peer = peers_[peer_of_met_line_.at(id)];
  peer_of_met_line_.erase(id);
  peer.met.reset();
  --met_count_;
  if (outcome_) {
    outcome_ = Error{Code::kPeerLost, fmt::format("{} hung up while connecting",
                                                  Named(peer.config.rank, peer.config.host))};
    return;
  }
  for (const std::size_t candidate : peer.candidates)
    Schedule(candidate, now + candidates_[candidate].retry);
}

// ---- lines that lead nowhere --------------------------------------------------------------------

void Wireup::Fail(Lines::iterator line, const std::string& why, Instant now, bool hangup) {
  const LineId id = line->first;
  const std::optional<std::size_t> dialled = line->second.candidate;
  const bool silent = line->second.wire.silent();
  const bool answered = line->second.wire.answered();
  const Address from = line->second.from;
  if (hangup) Emit(Hangup{id});
  Forget(line);
  if (!dialled) {
    if (hangup || (!silent && !answered)) return TurnAway(from, why);
    // It hung up before it proved anything: most often a dialler that got through elsewhere.
    if (answered) ++gave_up_count_;
    return;
  }
  Candidate& candidate = candidates_[*dialled];
  Peer& peer = peers_[candidate.peer];
  candidate.line = 0;
  candidate.last = why;
  const auto jitter_percent = static_cast<std::int64_t>(75 + jitter_.Below(50));
  Schedule(*dialled, now + candidate.retry * jitter_percent / 100);
  candidate.retry = std::min(2 * candidate.retry, config_.limits.retry_max);
  if (peer.chosen != id) return;
  peer.chosen = 0;  // the others get their chance again
  for (const std::size_t other : peer.candidates)
    if (other != *dialled) Schedule(other, now);
}

void Wireup::Refuse(Lines::iterator line, const std::string& why) {
  const LineId id = line->first;
  Emit(Send{id, Slice(Share(Encode(Refusal{why})))});
  Emit(Hangup{id});
  TurnAway(line->second.from, why);
  Forget(line);
}

void Wireup::TurnAway(const Address& from, const std::string& why) {
  turned_away_last_ = fmt::format("{}: {}", ToString(from), why);
  ++turned_away_count_;
  // Each of the first few, then ever fewer: a scanner shall not fill the log.
  constexpr std::size_t kAlwaysNoted = 16;
  const std::size_t n = turned_away_count_;
  if (n > kAlwaysNoted && (n & (n - 1)) != 0) return;
  Emit(Note{LogLevel::kWarn, fmt::format("rank {} turned away caller {} while connecting, {}",
                                         Index(config_.self), n, turned_away_last_)});
}

void Wireup::Expire(Instant now) {
  while (!lines_due_.empty() && lines_due_.begin()->first <= now) {
    const auto line = lines_.find(lines_due_.begin()->second);
    Fail(line, line->second.wire.silent() ? "it said nothing" : "it stopped halfway", now, true);
  }
}

void Wireup::SetDeadline(Lines::iterator line, Instant deadline) {
  lines_due_.erase({line->second.deadline, line->first});
  line->second.deadline = deadline;
  lines_due_.emplace(deadline, line->first);
}

void Wireup::Forget(Lines::iterator line) {
  lines_due_.erase({line->second.deadline, line->first});
  if (!line->second.candidate) --accepted_count_;
  lines_.erase(line);
}

// ---- dialling ---------------------------------------------------------------------------------

void Wireup::Introduce(LineId id, const Peer& peer, Bytes before) {
  const Bytes frame =
      Encode(WireupHello{.from = config_.self,
                         .to = peer.config.rank,
                         .descriptors = static_cast<std::uint8_t>(peer.config.descriptors.size()),
                         .offer = peer.config.offer,
                         .strand = peer.config.strand});
  before.insert(before.end(), frame.begin(), frame.end());
  Emit(Send{id, Slice(Share(std::move(before))), peer.config.descriptors});
}

void Wireup::Schedule(std::size_t candidate, Instant due) {
  Candidate& it = candidates_[candidate];
  dials_due_.erase({it.due, candidate});
  it.due = due;
  if (due != kNever) dials_due_.emplace(due, candidate);
}

void Wireup::StopDialling(Peer& peer, LineId except) {
  for (const std::size_t candidate : peer.candidates) {
    Schedule(candidate, kNever);
    const LineId id = candidates_[candidate].line;
    if (id == 0 || id == except) continue;
    candidates_[candidate].line = 0;
    Emit(Hangup{id});
    Forget(lines_.find(id));
  }
}

void Wireup::DialDue(Instant now) {
  while (!dials_due_.empty() && dials_due_.begin()->first <= now) {
    const std::size_t index = dials_due_.begin()->second;
    Schedule(index, kNever);
    Candidate& candidate = candidates_[index];
    const Peer& peer = peers_[candidate.peer];
    if (candidate.line != 0 || peer.met || peer.chosen != 0) continue;
    candidate.line = next_line_++;
    lines_.emplace(candidate.line,
                   Line{.wire = WireupLine(Handshake::Dialler(config_.credentials,
                                                              peer.config.purpose, nonces_.Next())),
                        .candidate = index,
                        .from = candidate.address});
    Emit(Dial{candidate.line, candidate.address});
  }
}

// ---- the end ----------------------------------------------------------------------------------

std::optional<Instant> Wireup::Deadline() const {
  if (outcome_) return std::nullopt;
  Instant deadline = config_.deadline;
  if (!dials_due_.empty()) deadline = std::min(deadline, dials_due_.begin()->first);
  if (!lines_due_.empty()) deadline = std::min(deadline, lines_due_.begin()->first);
  return deadline;
}

void Wireup::Conclude(Instant now) {
  if (met_count_ == peers_.size()) {
    std::vector<Met> all;
    for (const Peer& peer : peers_) all.push_back(*peer.met);
    Finish(std::move(all));
  } else if (now >= config_.deadline) {
    Finish(Missing());
  }
}

void Wireup::Finish(Result<std::vector<Met>> outcome) {
  for (const auto& [id, line] : lines_) Emit(Hangup{id});
  lines_.clear();
  lines_due_.clear();
  dials_due_.clear();
  outcome_ = std::move(outcome);
}

std::optional<std::pair<std::size_t, Met>> Wireup::MetOn(LineId line) const {
  const auto it = peer_of_met_line_.find(line);
  if (it == peer_of_met_line_.end()) return std::nullopt;
  return std::pair(it->second, *peers_[it->second].met);
}

std::string Wireup::Complaint(const Peer& peer) const {
  if (peer.config.role == WireupPeer::Role::kAccept)
    return Named(peer.config.rank, peer.config.host) + " (it has not called)";
  std::string tried;
  for (const std::size_t candidate : peer.candidates)
    tried += fmt::format("{}{}: {}", tried.empty() ? "" : ", ",
                         ToString(candidates_[candidate].address), candidates_[candidate].last);
  return fmt::format("{} ({})", Named(peer.config.rank, peer.config.host),
                     tried.empty() ? "it has told no address" : tried);
}

Error Wireup::Missing() const {
  std::string missing;
  std::set<Rank> all, absent;  // each once, however many strands it has
  for (const Peer& peer : peers_) {
    all.insert(peer.config.rank);
    if (peer.met || !absent.insert(peer.config.rank).second || absent.size() > kNamedMax) continue;
    missing += (missing.empty() ? "" : "; ") + Complaint(peer);
  }
  if (absent.size() > kNamedMax) missing += fmt::format("; and {} more", absent.size() - kNamedMax);
  if (turned_away_count_ > 0)
    missing += fmt::format("; callers turned away: {}, the last {}", turned_away_count_,
                           turned_away_last_);
  if (gave_up_count_ > 0)
    missing += fmt::format("; callers that hung up before they proved to know the secret: {}",
                           gave_up_count_);
  return Error{Code::kTimeout,
               fmt::format("rank {} is not connected with {} of {} peers in time: {}",
                           Index(config_.self), absent.size(), all.size(), missing)};
}

}  // namespace ringlet::transport
