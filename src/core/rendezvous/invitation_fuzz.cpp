// Reads arbitrary bytes as a unique id and as its text. An accepted input must equal its own
// output.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/value/digest.hpp"
#include "rendezvous/invitation.hpp"

namespace {

using ringlet::UniqueId;
using ringlet::View;

void Require(bool condition) {
  if (!condition) std::abort();
}

void Read(const UniqueId& id) {
  const auto text = ringlet::rendezvous::FromText(ringlet::rendezvous::ToText(id));
  Require(text.ok() && *text == id);
  const auto invitation = ringlet::rendezvous::Decode(id);
  if (!invitation.ok()) return;
  const auto again = ringlet::rendezvous::Encode(*invitation);
  Require(again.ok());
  const auto decoded = ringlet::rendezvous::Decode(*again);
  Require(decoded.ok() && *decoded == *invitation);
}

// Repairs tag, version and check sum, so that the fuzzer reaches the code after their checks.
void Repair(UniqueId& id) {
  ringlet::Writer head;
  head.U32(0x544c4752).U8(1);
  std::ranges::copy(head.view(), id.bytes.begin());
  ringlet::Writer sum;
  sum.U64(ringlet::DigestOf(View(id.bytes).first(120)));
  std::ranges::copy(sum.view(), id.bytes.begin() + 120);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View bytes = std::as_bytes(std::span(data, size));
  UniqueId id;
  std::copy_n(bytes.begin(), std::min(bytes.size(), id.bytes.size()), id.bytes.begin());
  Read(id);
  Repair(id);
  Read(id);
  const auto text = ringlet::rendezvous::FromText(ringlet::AsText(bytes));
  if (text.ok()) Read(*text);
  return 0;
}
