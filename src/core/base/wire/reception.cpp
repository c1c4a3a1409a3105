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
    callers_.Add(*accepted, Bytes(), now);
  } else if (const auto* const received = std::get_if<Received>(&event)) {
    OnReceived(*received);
  } else if (const auto* const closed = std::get_if<Closed>(&event)) {
    callers_.OnClosed(closed->line);
  }
  callers_.Expire(now);
}

void Reception::OnReceived(const Received& event) {
  Bytes* const heard = callers_.Find(event.line);
  if (!heard) return;
  Bytes& said = *heard;
  said.insert(said.end(), event.data.bytes.begin(), event.data.bytes.end());
  const std::size_t known = std::min(said.size(), kGreeting.size());
  if (!std::equal(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(known),
                  AsView(kGreeting).begin()))
    return callers_.RejectCaller(event.line, "a stranger that does not speak Ringlet's protocol");
  if (said.size() < kHelloBytes) return;
  const auto hello = ReadHello(said);
  if (hello && config_.serves(KeyOf(*hello))) {
    auto caller = callers_.Take(event.line);
    identified_callers_.emplace(event.line, IdentifiedCaller{KeyOf(*hello), std::move(caller.from),
                                                             std::move(caller.line)});
    Emit(Detach{event.line});
    return;
  }
  // Answers like a machine of another communicator.
  const Credentials other{.magic = hello ? ~hello->magic : 0, .secret = {}};
  Handshake handshake = Handshake::Acceptor(other, nonces_.Next());
  View in(said);
  const Status refused = handshake.Push(in);
  Emit(Send{event.line, Slice(Share(handshake.TakeOutput()))});
  callers_.RejectCaller(
      event.line,
      hello ? fmt::format("a peer that looks for communicator {:016x}, which is not here: it "
                          "has ended, or its unique id is an old one",
                          hello->magic)
            : refused.error().message);
}

Reception::IdentifiedCaller Reception::Take(LineId line) {
  auto node = identified_callers_.extract(line);
  RINGLET_ASSERT(!node.empty());
  return std::move(node.mapped());
}

}  // namespace ringlet
