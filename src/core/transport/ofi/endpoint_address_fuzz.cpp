// Decodes arbitrary bytes as a peer's endpoint address. Encoding an accepted address must return
// the input.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "transport/ofi/endpoint_address.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ringlet::View bytes = std::as_bytes(std::span(data, size));
  const auto address = ringlet::transport::ofi::DecodeEndpointAddress(bytes);
  if (!address.ok()) return 0;
  const ringlet::Bytes again = Encode(*address);
  if (!std::ranges::equal(again, bytes)) std::abort();
  return 0;
}
