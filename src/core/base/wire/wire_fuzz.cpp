// Two ends of a connection and an attacker between them. The attacker cuts, flips, drops, repeats,
// swaps or sends back bytes. An encrypted connection then delivers a prefix of the sent data, in
// order; a plain one survives. Without changes all data arrives.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/wire/wire.hpp"

namespace {

using ringlet::Bytes;
using ringlet::Slice;
using ringlet::View;
using ringlet::Wire;

constexpr std::size_t kPayloadBytesMax = 200'000;

void Require(bool condition) {
  if (!condition) std::abort();
}

ringlet::Nonce Filled(std::uint8_t value) {
  ringlet::Nonce nonce;
  nonce.fill(std::byte{value});
  return nonce;
}

ringlet::Credentials Ours() {
  ringlet::Credentials credentials{0x1234, {}};
  credentials.secret.fill(std::byte{0x5a});
  return credentials;
}

Slice Owned(const Bytes& bytes) {
  return Slice(ringlet::Share(Bytes(bytes)));
}

Bytes Copy(const Slice& slice) {
  return {slice.bytes.begin(), slice.bytes.end()};
}

struct Ends {
  Wire dialled, accepted;
};

Ends Open(const ringlet::LineOptions& options) {
  Ends ends{Wire::Dialled(Ours(), ringlet::Purpose::kTree, Filled(1), kPayloadBytesMax, options),
            Wire::Accepted(Ours(), Filled(2), kPayloadBytesMax, options)};
  Require(ends.accepted.Push(Owned(ends.dialled.TakeReply())).ok());
  Require(ends.dialled.Push(Owned(ends.accepted.TakeReply())).ok());
  Require(ends.accepted.Push(Owned(ends.dialled.TakeReply())).ok());
  Require(ends.dialled.open() && ends.accepted.open());
  return ends;
}

Bytes FrameOf(std::uint8_t type, std::size_t bytes) {
  ringlet::Writer out = ringlet::BeginFrame(type);
  out.Raw(Bytes(bytes, std::byte{type}));
  return ringlet::EndFrame(std::move(out));
}

// Applies the attacker's change to the pieces. Returns true if it leaves them unchanged.
bool ApplyAttack(std::vector<Bytes>& pieces, Wire& acceptor, ringlet::Reader& in) {
  const std::uint8_t deed = in.U8() % 7;
  const std::size_t at = in.U8() % pieces.size();
  Bytes& piece = pieces[at];
  switch (deed) {
    case 0: piece[in.U16() % piece.size()] ^= static_cast<std::byte>(1u << (in.U8() % 8)); break;
    case 1: pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at)); break;
    case 2: pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(at), Bytes(piece)); break;
    case 3: piece.resize(in.U16() % piece.size()); break;
    case 4: piece = Copy(acceptor.Seal(Owned(FrameOf(9, 7)))); break;
    case 5: {
      const std::size_t other = in.U8() % pieces.size();
      if (pieces[other] == piece) return true;
      std::swap(pieces[other], piece);
      break;
    }
    default: return true;
  }
  return false;
}

void Play(bool encrypt, ringlet::Reader& in) {
  Ends ends = Open({.encrypt = encrypt});
  std::vector<Bytes> said, pieces;
  const std::size_t count = 1 + in.U8() % 6;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t size = in.U16();  // 0xfffe: a frame of two records
    said.push_back(FrameOf(static_cast<std::uint8_t>(i + 1), size == 0xfffe ? 70'000 : size % 512));
    pieces.push_back(Copy(ends.dialled.Seal(Owned(said.back()))));
  }
  const bool untouched = ApplyAttack(pieces, ends.accepted, in);
  Bytes stream;
  for (const Bytes& piece : pieces) stream.insert(stream.end(), piece.begin(), piece.end());
  std::size_t heard = 0;
  bool well = true;
  for (View rest = stream; !rest.empty() && well;) {
    const std::size_t cut_bytes = in.remaining() > 0 ? 1u + in.U16() : rest.size();
    const std::size_t bytes = std::min(cut_bytes, rest.size());
    const Bytes cut(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(bytes));
    rest = rest.subspan(bytes);
    well = ends.accepted.Push(Slice(View(cut))).ok();
    for (;;) {
      const auto frame = ends.accepted.Next();
      well = well && frame.ok();
      if (!frame.ok() || !*frame) break;
      if (!encrypt) continue;
      Require(heard < said.size());
      const View expected = View(said[heard]).subspan(ringlet::kFrameHeaderBytes);
      const View got = (*frame)->payload.bytes;
      Require((*frame)->type == heard + 1);
      Require(std::equal(got.begin(), got.end(), expected.begin(), expected.end()));
      ++heard;
    }
  }
  if (encrypt && untouched) Require(well && heard == said.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringlet::Reader in(std::as_bytes(std::span(data, size)));
  const bool encrypt = in.U8() % 4 != 0;
  Play(encrypt, in);
  return 0;
}
