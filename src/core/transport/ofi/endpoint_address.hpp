// EndpointAddress: a rank's libfabric endpoint, as the rank describes it to one peer in their
// wireup.
#pragma once
#include <cstdint>
#include <string>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"

namespace ringlet::transport::ofi {

struct EndpointAddress {
  std::string provider;            ///< such as "tcp;ofi_rxm"; both ranks must use the same
  Bytes name;                      ///< of the endpoint, in the provider's format
  std::uint64_t tag = 0;           ///< for messages from the peer; their credits use tag + 1
  std::uint32_t buffers = 0;       ///< ready for the peer's messages
  std::uint32_t buffer_bytes = 0;  ///< of each
  bool operator==(const EndpointAddress&) const = default;
};

inline constexpr std::size_t kProviderBytesMax = 64;
inline constexpr std::size_t kNameBytesMax = 512;
inline constexpr std::uint32_t kBuffersMax = 1024;
inline constexpr std::uint32_t kBufferBytesMin = 8, kBufferBytesMax = 16 << 20;

Bytes Encode(const EndpointAddress& address);
/// Errors  kProtocol  `bytes` does not parse
Result<EndpointAddress> DecodeEndpointAddress(View bytes);

}  // namespace ringlet::transport::ofi
