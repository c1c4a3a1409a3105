// No peer passes without the secret, whatever it sends. Changing a single bit of a true handshake
// in transit also makes it fail.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/wire/handshake.hpp"

namespace {

using ringlet::Bytes;
using ringlet::Handshake;
using ringlet::View;

ringlet::Credentials Ours() {
  ringlet::Credentials credentials{0x1234, {}};
  credentials.secret.fill(std::byte{0x5a});
  return credentials;
}

ringlet::Nonce Filled(std::uint8_t value) {
  ringlet::Nonce nonce;
  nonce.fill(std::byte{value});
  return nonce;
}

void Require(bool condition) {
  if (!condition) std::abort();
}

void Garble(Handshake handshake, ringlet::Reader& in) {
  handshake.TakeOutput();
  while (in.ok() && in.remaining() > 0) {
    View piece = in.Raw(std::min<std::size_t>(in.U8(), in.remaining()));
    const bool refused = !handshake.Push(piece).ok();
    handshake.TakeOutput();
    Require(!handshake.done());
    if (refused) return;
  }
}

// Passes `bytes` on in pieces that the input chooses, with one bit changed if `flip` lies within.
bool Pass(Bytes bytes, Handshake& to, std::size_t& flip, ringlet::Reader& in) {
  if (flip < 8 * bytes.size()) bytes[flip / 8] ^= static_cast<std::byte>(1u << (flip % 8));
  flip = flip < 8 * bytes.size() ? SIZE_MAX : flip - (flip == SIZE_MAX ? 0 : 8 * bytes.size());
  for (View rest = bytes; !rest.empty();) {
    View piece = rest.first(std::min<std::size_t>(1 + in.U8(), rest.size()));
    rest = rest.subspan(piece.size());
    if (!to.Push(piece).ok()) return false;
    Require(piece.empty());  // no more bytes follow, so none may be left over
  }
  return true;
}

// One byte selects the purpose and the encryption: bit 6 for the dialler, bit 7 for the acceptor.
void Tamper(ringlet::Reader& in) {
  const std::uint8_t wanted = in.U8();
  const auto purpose = static_cast<ringlet::Purpose>(1 + wanted % 64 % 7);
  const ringlet::LineOptions ours{.encrypt = (wanted & 64) != 0};
  const ringlet::LineOptions theirs{.encrypt = (wanted & 128) != 0};
  constexpr std::size_t kBits = 8 * (48 + 72 + 32);
  const std::size_t at = in.U16() % (kBits + 64);  // beyond kBits: no change
  std::size_t flip = at < kBits ? at : SIZE_MAX;
  Handshake dialler = Handshake::Dialler(Ours(), purpose, Filled(1), ours);
  Handshake acceptor = Handshake::Acceptor(Ours(), Filled(2), theirs);
  const bool whole = Pass(dialler.TakeOutput(), acceptor, flip, in) &&
                     Pass(acceptor.TakeOutput(), dialler, flip, in) &&
                     Pass(dialler.TakeOutput(), acceptor, flip, in);
  const bool both = dialler.done() && acceptor.done();
  Require(both == (at >= kBits && ours.encrypt == theirs.encrypt) && whole == both);
  if (!both) return;
  Require(acceptor.purpose() == purpose);
  const ringlet::LineKeys keys = dialler.Keys(), same = acceptor.Keys();
  Require(keys.from_dialler == same.from_dialler && keys.from_acceptor == same.from_acceptor);
  Require(keys.from_dialler != keys.from_acceptor);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringlet::Reader in(std::as_bytes(std::span(data, size)));
  switch (in.U8() % 3) {
    case 0: Garble(Handshake::Acceptor(Ours(), Filled(2)), in); break;
    case 1: Garble(Handshake::Dialler(Ours(), ringlet::Purpose::kTree, Filled(1)), in); break;
    default: Tamper(in);
  }
  return 0;
}
