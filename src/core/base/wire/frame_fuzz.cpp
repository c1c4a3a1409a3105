// Cuts an arbitrary stream anywhere, and compares the frames with those of a plain loop over it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/value/prng.hpp"
#include "base/wire/frame.hpp"

namespace {

using ringlet::Bytes;
using ringlet::kFrameHeaderBytes;
using ringlet::View;

struct Expected {
  std::vector<std::pair<std::uint8_t, Bytes>> frames;
  bool broken = false;  // the next frame is too long
};

Expected ReadWhole(View stream, std::size_t payload_bytes_max) {
  Expected expected;
  while (stream.size() >= kFrameHeaderBytes) {
    const std::size_t bytes = ringlet::Reader(stream).U32();
    if (bytes > payload_bytes_max) {
      expected.broken = true;
      break;
    }
    if (stream.size() - kFrameHeaderBytes < bytes) break;
    const View payload = stream.subspan(kFrameHeaderBytes, bytes);
    expected.frames.emplace_back(std::to_integer<std::uint8_t>(stream[4]),
                                 Bytes(payload.begin(), payload.end()));
    stream = stream.subspan(kFrameHeaderBytes + bytes);
  }
  return expected;
}

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t payload_bytes_max = data[0];
  ringlet::Prng prng(data[1]);
  const View stream = std::as_bytes(std::span(data + 2, size - 2));
  const Expected expected = ReadWhole(stream, payload_bytes_max);
  ringlet::FrameReader reader(payload_bytes_max);
  std::size_t seen = 0;
  bool broken = false;
  for (std::size_t at = 0; at < stream.size() && !broken;) {
    const std::size_t bytes = std::min<std::size_t>(1 + prng.Below(64), stream.size() - at);
    // Copies the piece, so that ASan detects a later access.
    const Bytes piece(stream.begin() + static_cast<std::ptrdiff_t>(at),
                      stream.begin() + static_cast<std::ptrdiff_t>(at + bytes));
    at += bytes;
    reader.Push(prng.Chance(0.5) ? ringlet::Slice(View(piece))
                                 : ringlet::Slice(ringlet::Share(Bytes(piece))));
    for (;;) {
      const auto frame = reader.Next();
      broken = !frame.ok();
      if (broken || !*frame) break;
      const View payload = (*frame)->payload.bytes;
      Require(seen < expected.frames.size());
      Require((*frame)->type == expected.frames[seen].first);
      Require(Bytes(payload.begin(), payload.end()) == expected.frames[seen].second);
      ++seen;
    }
    Require(reader.buffered_bytes() <= stream.size());
  }
  Require(seen == expected.frames.size() && broken == expected.broken);
  return 0;
}
