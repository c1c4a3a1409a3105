#include "base/wire/reception.hpp"

#include <fmt/format.h>

namespace ringlet {

ServiceKey KeyOf(const HelloText& hello) {
  ServiceKey key{.magic = hello.magic, .kind = ServiceKey::Kind::kControl};
  const auto purpose = static_cast<Purpose>(hello.purpose);
  if (purpose == Purpose::kCheckIn) key.kind = ServiceKey::Kind::kRoot;
  if (purpose == Purpose::kData || purpose == Purpose::kMemory || purpose == Purpose::kFabric)
    key.kind = ServiceKey::Kind::kData;
  return key;
}

void Reception::Handle(const Event& event, Instant now) {
  now_ = now;
  if (const auto* const accepted = std::get_if<Accepted>(&event)) {
    if (const auto oldest = callers_.InTheWay())
      TurnAway(*oldest, "too many callers that do not introduce themselves");
    lines_.emplace(accepted->line, Caller{accepted->from});
    callers_.Add(accepted->line, now);
  } else if (const auto* const received = std::get_if<Received>(&event)) {
    OnReceived(*received);
  } else if (const auto* const closed = std::get_if<Closed>(&event)) {
    if (lines_.contains(closed->line))
      TurnAway(closed->line, "it left before it had introduced itself");
  }
  while (const auto expired = callers_.Expired(now))
    TurnAway(*expired, "it did not introduce itself in time");
}

void Reception::OnReceived(const Received& event) {
  const auto it = lines_.find(event.line);
  if (it == lines_.end()) return;
  Bytes& said = it->second.said;
  said.insert(said.end(), event.data.bytes.begin(), event.data.bytes.end());
  const std::size_t known = std::min(said.size(), kGreeting.size());
  if (!std::equal(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(known),
                  AsView(kGreeting).begin()))
    return TurnAway(event.line, "a stranger that does not speak Ringlet's protocol");
  if (said.size() < kHelloBytes) return;
  const auto hello = ReadHello(said);
  if (hello && config_.serves(KeyOf(*hello))) {
    guests_.emplace(event.line, Guest{KeyOf(*hello), it->second.from, std::move(said)});
    Forget(event.line);
    Emit(Detach{event.line});
    return;
  }
  // The answer that a machine of any other communicator would give.
  const Credentials other{.magic = hello ? ~hello->magic : 0, .secret = {}};
  Handshake handshake = Handshake::Acceptor(other, nonces_.Next());
  View in(said);
  const Status refused = handshake.Push(in);
  Emit(Send{event.line, Slice(Share(handshake.TakeOutput()))});
  TurnAway(event.line,
           hello ? fmt::format("a peer that looks for communicator {:016x}, which is not here: it "
                               "has ended, or its unique id is an old one",
                               hello->magic)
                 : refused.error().message);
}

void Reception::TurnAway(LineId line, const std::string& why) {
  if (++strangers_ <= config_.strangers_noted_max)
    Emit(Note{LogLevel::kWarn, fmt::format("turned away a caller from {}: {}",
                                           ToString(lines_.at(line).from), why)});
  Emit(Hangup{line});
  Forget(line);
}

void Reception::Forget(LineId line) {
  lines_.erase(line);
  callers_.Remove(line);
}

Reception::Guest Reception::Take(LineId line) {
  auto node = guests_.extract(line);
  RINGLET_ASSERT(!node.empty());
  return std::move(node.mapped());
}

}  // namespace ringlet
