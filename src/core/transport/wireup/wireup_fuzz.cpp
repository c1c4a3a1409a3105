// Passes a Wireup any input that an attacker, or a faulty authenticated peer, may send.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "transport/wireup/wireup.hpp"

namespace {

using namespace std::chrono_literals;
using ringlet::AsView;
using ringlet::Bytes;
using ringlet::Rank;
using ringlet::Slice;
using ringlet::View;
using ringlet::transport::Wireup;
using ringlet::transport::WireupPeer;

constexpr ringlet::Credentials kCredentials{0x1234, {}};

ringlet::transport::WireupConfig Config() {
  ringlet::transport::WireupConfig config;
  config.self = Rank{1};
  config.credentials = kCredentials;
  config.deadline = 60s;
  config.limits.callers_max = 4;
  config.peers.push_back(WireupPeer{.rank = Rank{0},
                                    .host = "a",
                                    .role = WireupPeer::Role::kAccept,
                                    .addresses = {},
                                    .offer = {},
                                    .descriptors = {}});
  config.peers.push_back(WireupPeer{.rank = Rank{2},
                                    .host = "b",
                                    .role = WireupPeer::Role::kDial,
                                    .addresses = {ringlet::Address::Ipv4(10, 0, 0, 1, 1)},
                                    .offer = {},
                                    .descriptors = {}});
  return config;
}

// Drains all actions of the wireup. Returns the last bytes that it sent, which a caller answers.
Bytes Drain(Wireup& wireup) {
  Bytes sent;
  while (auto action = wireup.PollAction())
    if (const auto* send = std::get_if<ringlet::Send>(&*action))
      sent.assign(send->data.bytes.begin(), send->data.bytes.end());
  return sent;
}

// Completes the handshake of an accepted line, so that the input reaches the code behind it.
void Authenticate(Wireup& wireup, ringlet::LineId line, ringlet::Instant now) {
  auto caller = ringlet::Handshake::Dialler(kCredentials, ringlet::Purpose::kData, {});
  Drain(wireup);
  wireup.Handle(ringlet::Received{line, Slice(View(caller.TakeOutput())), {}}, now);
  const Bytes challenge = Drain(wireup);
  View in(challenge);
  if (!caller.Push(in).ok() || !caller.done()) return;
  wireup.Handle(ringlet::Received{line, Slice(View(caller.TakeOutput())), {}}, now);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Wireup wireup(Config());
  ringlet::Reader in(std::as_bytes(std::span(data, size)));
  ringlet::Instant now = 1s;
  ringlet::LineId next = ringlet::kFirstAcceptedLine;
  wireup.Handle(ringlet::Tick{}, now);
  while (in.ok() && in.remaining() > 0) {
    const std::uint8_t what = in.U8();
    const ringlet::LineId line =
        what & 8 ? 1u + in.U8() % 4u : ringlet::kFirstAcceptedLine + in.U8() % 8u;
    switch (what & 7) {
      case 0: wireup.Handle(ringlet::Accepted{next++, {}}, now); break;
      case 1: wireup.Handle(ringlet::Closed{line, "gone"}, now); break;
      case 2: Authenticate(wireup, line, now); break;
      case 3: wireup.Handle(ringlet::Connected{line}, now); break;
      case 4:
        now += std::chrono::milliseconds(in.U16());
        wireup.Handle(ringlet::Tick{}, now);
        break;
      default: {
        const View piece = in.Raw(std::min<std::size_t>(in.U8(), in.remaining()));
        wireup.Handle(ringlet::Received{line, Slice(piece), ringlet::Descriptors(what >> 6)}, now);
      }
    }
    Drain(wireup);
    if (!wireup.Finished() && !wireup.Deadline()) std::abort();  // it would wait forever
  }
  return 0;
}
