#include "os/net/address_list.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "os/error.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kDatagramBytesMax = 32 * 1024;  // the kernel's maximum
constexpr int kDatagramsMax = 4096;                   // half a million addresses

// Parts of a netlink message start at multiples of four bytes.
std::size_t Aligned(std::size_t bytes) {
  return (bytes + 3) & ~std::size_t{3};
}

// Copies a header of type T from the beginning of `bytes`, which may be unaligned.
template <typename T>
std::optional<T> HeaderOf(View bytes) {
  T header{};
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

// Removes the next part from `rest`. Its header T contains its length. Empty if it is cut short.
template <typename T, typename Length>
std::optional<View> TakePart(View& rest, Length T::*length) {
  const auto header = HeaderOf<T>(rest);
  if (!header) return std::nullopt;
  const std::size_t bytes = (*header).*length;
  if (bytes < sizeof(T) || bytes > rest.size()) return std::nullopt;
  const View part = rest.first(bytes);
  rest = rest.subspan(std::min(Aligned(bytes), rest.size()));
  return part;
}

Error TruncatedListError() {
  return Error{Code::kProtocol, "the kernel's list of addresses is cut short"};
}

std::optional<Address> IpOf(View bytes, const ifaddrmsg& message) {
  const bool ipv4 = message.ifa_family == AF_INET;
  if (bytes.size() != (ipv4 ? 4u : 16u)) return std::nullopt;
  Address address;
  address.kind = ipv4 ? Address::Kind::kIpv4 : Address::Kind::kIpv6;
  std::memcpy(address.ip.data(), bytes.data(), bytes.size());
  const bool link_local = !ipv4 && address.ip[0] == 0xfe && (address.ip[1] & 0xc0) == 0x80;
  if (link_local) address.scope = message.ifa_index;
  return address;
}

// Returns empty for an address of another family.
Result<std::optional<ListedAddress>> AddressIn(View body) {
  const auto message = HeaderOf<ifaddrmsg>(body);
  if (!message) return TruncatedListError();
  if (message->ifa_family != AF_INET && message->ifa_family != AF_INET6)
    return std::optional<ListedAddress>();
  ListedAddress listed{.interface = message->ifa_index, .label = {}, .own = {}};
  std::optional<Address> local, address;
  for (View rest = body.subspan(Aligned(sizeof *message)); !rest.empty();) {
    const auto part = TakePart(rest, &rtattr::rta_len);
    if (!part) return TruncatedListError();
    const View value = part->subspan(sizeof(rtattr));
    switch (HeaderOf<rtattr>(*part)->rta_type) {
      case IFA_LOCAL: local = IpOf(value, *message); break;
      case IFA_ADDRESS: address = IpOf(value, *message); break;
      case IFA_LABEL: listed.label = AsText(value).substr(0, AsText(value).find('\0')); break;
      default: break;
    }
  }
  // `local` is our end of a point-to-point connection.
  if (!local && !address) return TruncatedListError();
  listed.own = {local ? *local : *address, message->ifa_prefixlen};
  return std::optional(std::move(listed));
}

Status Ask(const Fd& socket) {
  struct {
    nlmsghdr header;
    ifaddrmsg message;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETADDR;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.message.ifa_family = AF_UNSPEC;
  if (::send(socket.get(), &request, sizeof request, 0) != sizeof request)
    return SystemError("cannot query the addresses of this host", errno);
  return Ok();
}

}  // namespace

Result<AddressMessages> ParseAddressMessages(View datagram) {
  AddressMessages found;
  while (!datagram.empty() && !found.ended) {
    const auto part = TakePart(datagram, &nlmsghdr::nlmsg_len);
    if (!part) return TruncatedListError();
    const nlmsghdr header = *HeaderOf<nlmsghdr>(*part);
    if (header.nlmsg_type == NLMSG_ERROR || (header.nlmsg_flags & NLM_F_DUMP_INTR) != 0)
      return Error{Code::kUnsupported, "the kernel does not list the addresses of this host"};
    found.ended = header.nlmsg_type == NLMSG_DONE;
    if (header.nlmsg_type != RTM_NEWADDR) continue;
    RINGLET_TRY_ASSIGN(auto listed, AddressIn(part->subspan(Aligned(sizeof header))));
    if (listed) found.addresses.push_back(*std::move(listed));
  }
  return found;
}

Result<Fd> OpenRouteSocket() {
  Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.valid()) return SystemError("cannot query the addresses of this host", errno);
  return socket;
}

Result<std::vector<ListedAddress>> ListAddresses(const Fd& socket) {
  RINGLET_TRY(Ask(socket));
  std::vector<ListedAddress> all;
  std::array<std::byte, kDatagramBytesMax> buffer;
  for (int datagrams = 0; datagrams < kDatagramsMax; ++datagrams) {
    // The kernel answers within send and recv, so recv need not wait.
    const ssize_t bytes =
        ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (bytes < 0) return SystemError("cannot read the addresses of this host", errno);
    if (static_cast<std::size_t>(bytes) > buffer.size()) return TruncatedListError();
    RINGLET_TRY_ASSIGN(auto some,
                       ParseAddressMessages(View(buffer).first(static_cast<std::size_t>(bytes))));
    all.insert(all.end(), std::make_move_iterator(some.addresses.begin()),
               std::make_move_iterator(some.addresses.end()));
    if (some.ended) return all;
  }
  return Error{Code::kUnsupported, "the kernel's list of addresses does not end"};
}

}  // namespace ringlet::os
