// Reads arbitrary bytes as the peer info of a rank. An accepted input can be written and read
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "comm/peers/peer_info.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto peer_info = ringlet::comm::DecodePeerInfo(std::as_bytes(std::span(data, size)));
  if (!peer_info.ok()) return 0;
  const auto again = ringlet::comm::DecodePeerInfo(Encode(*peer_info));
  if (!again.ok() || *again != *peer_info || peer_info->preferred > peer_info->tcp.size())
    std::abort();
  return 0;
}
