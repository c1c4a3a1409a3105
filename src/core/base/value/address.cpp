#include "base/value/address.hpp"

#include <fmt/format.h>

#include <charconv>

namespace ringlet {
namespace {

std::string Ipv6Text(const std::array<std::uint8_t, 16>& ip) {
  // RFC 5952: the longest run of zero groups becomes "::".
  std::array<unsigned, 8> group{};
  for (std::size_t i = 0; i < 8; ++i) group[i] = ip[2 * i] * 256u + ip[2 * i + 1];
  std::size_t best = 8, best_length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t length = 0;
    while (i + length < 8 && group[i + length] == 0) ++length;
    if (length > best_length) best = i, best_length = length;
  }
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == best) {
      text += "::";
      i += best_length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", group[i]);
  }
  return text;
}

template <typename T>
bool ParseNumber(std::string_view text, T& out, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool ParseIpv4(std::string_view text, std::array<std::uint8_t, 16>& ip) {
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos || !ParseNumber(text.substr(0, dot), ip[i])) return false;
    text.remove_prefix(i < 3 ? dot + 1 : dot);
  }
  return true;
}

bool ParseGroups(std::string_view text, std::vector<std::uint16_t>& groups) {
  while (!text.empty()) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::uint16_t group = 0;
    if (colon > 4 || !ParseNumber(text.substr(0, colon), group, 16)) return false;
    groups.push_back(group);
    if (colon + 1 == text.size()) return false;  // a trailing single colon
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return true;
}

bool ParseIpv6(std::string_view text, std::array<std::uint8_t, 16>& ip) {
  const std::size_t gap = text.find("::");
  std::vector<std::uint16_t> head, tail;
  if (!ParseGroups(text.substr(0, gap), head)) return false;
  if (gap != std::string_view::npos && !ParseGroups(text.substr(gap + 2), tail)) return false;
  const std::size_t groups = head.size() + tail.size();
  if (gap == std::string_view::npos ? groups != 8 : groups > 7) return false;
  const auto put = [&](std::size_t i, std::uint16_t group) {
    ip[2 * i] = static_cast<std::uint8_t>(group >> 8);
    ip[2 * i + 1] = static_cast<std::uint8_t>(group);
  };
  for (std::size_t i = 0; i < head.size(); ++i) put(i, head[i]);
  for (std::size_t i = 0; i < tail.size(); ++i) put(8 - tail.size() + i, tail[i]);
  return true;
}

}  // namespace

Address Address::Ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d,
                      std::uint16_t port) {
  Address address;
  address.kind = Kind::kIpv4;
  address.ip = {a, b, c, d};
  address.port = port;
  return address;
}

Address Address::Unix(std::string abstract_name) {
  Address address;
  address.kind = Kind::kUnix;
  address.path = std::move(abstract_name);
  return address;
}

bool Address::IsLoopback() const {
  if (kind == Kind::kUnix) return true;
  if (kind == Kind::kIpv4) return ip[0] == 127;
  std::array<std::uint8_t, 16> one{};
  one[15] = 1;
  return kind == Kind::kIpv6 && ip == one;
}

std::string ToString(const Address& address) {
  switch (address.kind) {
    case Address::Kind::kIpv4:
      return fmt::format("{}.{}.{}.{}:{}", address.ip[0], address.ip[1], address.ip[2],
                         address.ip[3], address.port);
    case Address::Kind::kIpv6:
      if (address.scope != 0)
        return fmt::format("[{}%{}]:{}", Ipv6Text(address.ip), address.scope, address.port);
      return fmt::format("[{}]:{}", Ipv6Text(address.ip), address.port);
    case Address::Kind::kUnix: return "unix:@" + address.path;
    case Address::Kind::kNone: break;
  }
  return "(none)";
}

Result<Address> ParseAddress(std::string_view text) {
  const Error bad{
      Code::kInvalidArgument,
      fmt::format("\"{}\" is not an address; expected 1.2.3.4:port, [ipv6]:port or unix:@name",
                  text)};
  Address address;
  if (text.starts_with("unix:@")) {
    if (text.size() - 6 > kUnixPathBytesMax) return bad;
    return Address::Unix(std::string(text.substr(6)));
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !ParseNumber(text.substr(colon + 1), address.port))
    return bad;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    const std::size_t percent = host.find('%');
    if (percent != std::string_view::npos && !ParseNumber(host.substr(percent + 1), address.scope))
      return bad;
    address.kind = Address::Kind::kIpv6;
    if (!ParseIpv6(host.substr(0, percent), address.ip)) return bad;
    return address;
  }
  address.kind = Address::Kind::kIpv4;
  if (!ParseIpv4(host, address.ip)) return bad;
  return address;
}

void Encode(Writer& out, const Address& address) {
  out.U8(static_cast<std::uint8_t>(address.kind));
  const View ip = std::as_bytes(std::span(address.ip));
  switch (address.kind) {
    case Address::Kind::kIpv4: out.U16(address.port).Raw(ip.first(4)); break;
    case Address::Kind::kIpv6: out.U16(address.port).Raw(ip).U32(address.scope); break;
    case Address::Kind::kUnix:
      out.U8(static_cast<std::uint8_t>(address.path.size())).Raw(AsView(address.path));
      break;
    case Address::Kind::kNone: break;
  }
}

Address DecodeAddress(Reader& in) {
  Address address;
  address.kind = static_cast<Address::Kind>(in.U8());
  const auto read_ip = [&](std::size_t bytes) {
    address.port = in.U16();
    const View ip = in.Raw(bytes);
    for (std::size_t i = 0; i < ip.size(); ++i)
      address.ip[i] = std::to_integer<std::uint8_t>(ip[i]);
  };
  if (address.kind == Address::Kind::kIpv4) {
    read_ip(4);
  } else if (address.kind == Address::Kind::kIpv6) {
    read_ip(16);
    address.scope = in.U32();
  } else if (address.kind == Address::Kind::kUnix) {
    address.path = std::string(AsText(in.Raw(in.U8())));
    if (address.path.size() > kUnixPathBytesMax) in.Fail();
  } else if (address.kind != Address::Kind::kNone) {
    in.Fail();
  }
  return in.ok() ? address : Address();
}

}  // namespace ringlet
