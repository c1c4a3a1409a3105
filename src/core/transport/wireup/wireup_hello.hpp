// The one frame of each side of a Wireup behind the handshake. Layouts: docs/reference/wire.md.
#pragma once
#include <string>
#include <variant>

#include "base/wire/wire.hpp"
#include "ringlet/types.hpp"

namespace ringlet::transport {

/// Which rank calls which, and what it offers.
struct WireupHello {
  Rank from{}, to{};
  std::uint8_t descriptors = 0;  ///< how many travel with it
  Bytes offer;
  std::uint8_t strand = 0;  ///< which of several lines between the two
};

/// The answer to a caller that is not wanted.
struct WireupRefusal {
  std::string why;
};

inline constexpr std::size_t kOfferBytesMax = 4096;
inline constexpr std::size_t kDescriptorsPerOfferMax = Wire::kDescriptorsMax;
inline constexpr std::size_t kWireupPayloadBytesMax = kOfferBytesMax + 64;

Bytes Encode(const WireupHello& hello);
Bytes Encode(const WireupRefusal& refusal);

/// The message of a peer. `descriptors`: those that have come beside it.
/// Errors  kProtocol  it does not parse, or its descriptors are not all there
Result<std::variant<WireupHello, WireupRefusal>> ParseWireup(const Frame& frame,
                                                             std::size_t descriptors);

}  // namespace ringlet::transport
