// Which of a host's addresses are used, best first: pure, from a list of interfaces.
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
  bool running = false;  ///< up, and its link works
  std::vector<InterfaceAddress> addresses;
  bool operator==(const Interface&) const = default;
};

/// How promising an interface is, best first. After kOrdinary come those whose addresses mean
/// something else on every host.
enum class InterfaceTier : std::uint8_t {
  kSameSubnet,  ///< reaches the fixed root address directly
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
  /// Meaningful on this host only: another host may have the same address for itself. Advertise it
  /// to ranks of this host only, unless there is nothing else.
  bool host_local() const { return tier > InterfaceTier::kOrdinary; }
  bool operator==(const UsableAddress&) const = default;
};

/// Names of interfaces as NCCL_SOCKET_IFNAME has them: a comma list of at most 16 prefixes of
/// names,
/// "=" in front makes them whole names, "^" in front excludes them ("^=docker0" both). Empty: all.
class NameRule {
 public:
  /// Errors  kInvalidArgument  quotes the text and says what it should be
  static Result<NameRule> Parse(std::string_view text,
                                std::string_view variable = "RINGLET_SOCKET_IFNAME");

  bool Allows(std::string_view interface) const;
  /// Whether it lists what is wanted, and not only what is not.
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
  std::optional<Address> root = std::nullopt;  ///< of RINGLET_COMM_ID, when it is numeric
  /// The variables that set `names` and `family`, for messages.
  std::string names_variable = "RINGLET_SOCKET_IFNAME";
  std::string family_variable = "RINGLET_SOCKET_FAMILY";
};

/// The filter of the user. `settings` must outlive it.
InterfaceFilter FilterOf(const Settings& settings);

/// All addresses of running interfaces that `filter` lets pass, best first.
///
/// `names` is read by NameRule. Order, after NCCL's preference: by tier, then by the order of
/// `interfaces`; of one interface IPv4, then IPv6, then link-local IPv6. Unlike NCCL, which uses
/// the first address of the first interface only, all are returned; which of them works is found
/// out by dialling. With `names` given, the tier orders nothing but is still told. The loopback
/// address of IPv6 is left out, as NCCL does.
///
/// Errors  kInvalidArgument  `names` is malformed, or nothing passes; the sentence lists what
/// exists
Result<std::vector<UsableAddress>> UsableAddresses(const std::vector<Interface>& interfaces,
                                                   const InterfaceFilter& filter);

}  // namespace ringlet::os
