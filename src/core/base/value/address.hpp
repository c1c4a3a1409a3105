// The address of a socket, as a value.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"

namespace ringlet {

/// An IPv4 or IPv6 endpoint, or a UNIX socket of this machine. IPv4 uses the first 4 bytes of `ip`.
struct Address {
  enum class Kind : std::uint8_t { kNone = 0, kIpv4 = 4, kIpv6 = 6, kUnix = 1 };
  Kind kind = Kind::kNone;
  std::uint16_t port = 0;
  std::uint32_t scope = 0;            ///< interface index of a link-local IPv6 address
  std::array<std::uint8_t, 16> ip{};  ///< network order
  std::string path;                   ///< kUnix: an abstract name, without the leading zero byte

  auto operator<=>(const Address&) const = default;

  static Address Ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d,
                      std::uint16_t port);
  static Address Unix(std::string abstract_name);
  bool IsLoopback() const;
};

/// "10.0.0.5:1234", "[fe80::1%2]:1234", "unix:@name", "(none)".
std::string ToString(const Address& address);

/// Parses the numeric forms that ToString writes. The os layer resolves host names.
/// Errors  kInvalidArgument  quotes the text.
Result<Address> ParseAddress(std::string_view text);

inline constexpr std::size_t kUnixPathBytesMax = 107;  // sun_path less the leading zero byte

void Encode(Writer& out, const Address& address);
Address DecodeAddress(Reader& in);  ///< Fails `in` if the kind is unknown.

}  // namespace ringlet
