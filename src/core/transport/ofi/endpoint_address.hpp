// The message of a rank to one peer about its libfabric endpoint, in the wireup that makes their
// link.
#pragma once
#include <cstdint>
#include <string>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"

namespace ringlet::transport::ofi {

struct EndpointAddress {
  std::string provider;       ///< such as "tcp;ofi_rxm"; the peer's must be the same
  Bytes name;                 ///< of the endpoint, as the provider writes it
  std::uint64_t tag = 0;      ///< of what the peer sends to this link; its credits have tag + 1
  std::uint32_t buffers = 0;  ///< that wait for the peer's messages
  std::uint32_t buffer_bytes = 0;  ///< of each
  bool operator==(const EndpointAddress&) const = default;
};

inline constexpr std::size_t kProviderBytesMax = 64;
inline constexpr std::size_t kNameBytesMax = 512;
inline constexpr std::uint32_t kBuffersMax = 1024;
inline constexpr std::uint32_t kBufferBytesMin = 8, kBufferBytesMax = 16 << 20;

Bytes Encode(const EndpointAddress& address);
/// Errors  kProtocol  it is none
Result<EndpointAddress> DecodeEndpointAddress(View bytes);

}  // namespace ringlet::transport::ofi
