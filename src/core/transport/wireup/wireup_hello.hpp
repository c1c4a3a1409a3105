// WireupHello: the frame of each side after a Wireup's handshake. Layouts: docs/reference/wire.md.
#pragma once
#include <string>
#include <variant>

#include "base/wire/wire.hpp"
#include "ringlet/types.hpp"

namespace ringlet::transport {

/// Identifies the calling and the called rank, and carries an offer.
struct WireupHello {
  Rank from{}, to{};
  std::uint8_t descriptors = 0;  ///< number that travel with the frame
  Bytes offer;
  std::uint8_t strand = 0;  ///< index among the lines between the two ranks
};

/// The answer to an unexpected caller.
struct WireupRefusal {
  std::string why;
};

inline constexpr std::size_t kOfferBytesMax = 4096;
inline constexpr std::size_t kDescriptorsPerOfferMax = Wire::kDescriptorsMax;
inline constexpr std::size_t kWireupPayloadBytesMax = kOfferBytesMax + 64;

Bytes Encode(const WireupHello& hello);
Bytes Encode(const WireupRefusal& refusal);

/// Parses a peer's message. `descriptors`: the number that arrived with it.
/// Errors  kProtocol  the message does not parse, or descriptors are missing
Result<std::variant<WireupHello, WireupRefusal>> ParseWireup(const Frame& frame,
                                                             std::size_t descriptors);

}  // namespace ringlet::transport
