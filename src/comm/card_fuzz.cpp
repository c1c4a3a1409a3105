// Reads arbitrary bytes as the card of a rank. What is read can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "comm/card.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto card = ringlet::comm::DecodeCard(std::as_bytes(std::span(data, size)));
  if (!card.ok()) return 0;
  const auto again = ringlet::comm::DecodeCard(Encode(*card));
  if (!again.ok() || *again != *card || card->near > card->tcp.size()) std::abort();
  return 0;
}
