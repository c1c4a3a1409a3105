// Selects and orders the usable addresses of a host. Pure: works on a list of interfaces.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/settings.hpp"
#include "base/value/address.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// An address of an interface with its network.
struct InterfaceAddress {
  Address address;                ///< port 0
  std::uint32_t prefix_bits = 0;  ///< length of the network part
  bool operator==(const InterfaceAddress&) const = default;
};

struct Interface {
  std::string name;
  bool running = false;  ///< up, with a working link
  std::vector<InterfaceAddress> addresses;
  bool operator==(const Interface&) const = default;
};

/// The preference for an interface, best first. The addresses of interfaces after kOrdinary mean
/// something else on every host.
enum class InterfaceTier : std::uint8_t {
  kSameSubnet,  ///< its subnet contains the fixed root address
  kFabric,      ///< its name starts with "ib"
  kOrdinary,
  kContainer,      ///< docker*
  kLoopback,       ///< lo
  kVirtualBridge,  ///< virbr*
};

struct UsableAddress {
  std::string interface;
  Address address;
  InterfaceTier tier = InterfaceTier::kOrdinary;
  /// True if the address is meaningful on this host only, because another host may have the same
  /// address. Advertise it only to ranks of this host, unless no other address exists.
  bool host_local() const { return tier > InterfaceTier::kOrdinary; }
  bool operator==(const UsableAddress&) const = default;
};

/// Names of interfaces in the format of NCCL_SOCKET_IFNAME: a comma list of at most 16 prefixes. A
/// leading "=" makes them whole names, a leading "^" excludes them ("^=docker0" both). Empty: all.
class NameRule {
 public:
  /// Errors  kInvalidArgument  quotes the text and states the required form
  static Result<NameRule> Parse(std::string_view text,
                                std::string_view variable = "RINGLET_SOCKET_IFNAME");

  bool Allows(std::string_view interface) const;
  /// True if the rule lists names to use, not only names to exclude.
  bool picks() const { return !names_.empty() && !exclude_; }

 private:
  bool exclude_ = false;
  bool exact_ = false;
  std::vector<std::string> names_;
};

/// The interfaces that the user allows.
struct InterfaceFilter {
  std::string_view names = {};  ///< RINGLET_SOCKET_IFNAME; empty: all, in the default order
  SocketFamily family = SocketFamily::kAny;
  std::optional<Address> root = std::nullopt;  ///< of RINGLET_COMM_ID, if it is numeric
  /// The variables that set `names` and `family`, for messages.
  std::string names_variable = "RINGLET_SOCKET_IFNAME";
  std::string family_variable = "RINGLET_SOCKET_FAMILY";
};

/// The filter of the user. `settings` must outlive it.
InterfaceFilter FilterOf(const Settings& settings);

/// All addresses of running interfaces that pass `filter`, best first.
///
/// NameRule parses `names`. Order, after NCCL's preference: by tier, then by the order of
/// `interfaces`. Addresses of one interface: IPv4, then IPv6, then link-local IPv6. NCCL uses only
/// the first address of the first interface. This function returns all, and dialling shows which of
/// them work. With `names` the tier is still reported, but does not affect the order. The loopback
/// address of IPv6 is left out, as in NCCL.
///
/// Errors  kInvalidArgument  `names` is malformed, or no address passes; the message lists the
///                           interfaces
Result<std::vector<UsableAddress>> UsableAddresses(const std::vector<Interface>& interfaces,
                                                   const InterfaceFilter& filter);

}  // namespace ringlet::os
