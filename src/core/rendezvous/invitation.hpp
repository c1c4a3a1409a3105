// The contents of a unique id, and their form in 128 bytes. Layout: docs/reference/wire.md.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/value/address.hpp"
#include "base/wire/handshake.hpp"
#include "ringlet/unique_id.hpp"

namespace ringlet::rendezvous {

/// The contents of a UniqueId: credentials of the communicator and the addresses of its root.
struct Invitation {
  Credentials credentials = {};
  std::vector<Address> roots = {};  ///< every address of the root, best first
  std::uint32_t parent_size = 0;    ///< 0, or the size of the communicator that this id grows
  /// The user chose the root's address (NCCL_COMM_ID). No root listens there until rank 0 uses the
  /// id.
  bool fixed_address = false;
  /// The magic of the launched job's own id, set if this id is the first one that a process of the
  /// job made. A communicator of all ranks of the job meets at the job's id instead.
  std::optional<std::uint64_t> job = {};
  bool operator==(const Invitation&) const = default;
};

/// Leaves out the last addresses if they do not fit: 9 of IPv4 or 2 of IPv6 fit, with `job` 8 or 2.
/// Errors  kInvalidArgument  `roots` is empty.
Result<UniqueId> Encode(const Invitation& invitation);

/// Errors  kInvalidArgument  empty, foreign (an id of another library), of another version, or
/// damaged; the message states which.
Result<Invitation> Decode(const UniqueId& id);

/// "ringlet1:" and 256 hexadecimal digits. It contains the secret: treat it as a password.
std::string ToText(const UniqueId& id);
/// Errors  kInvalidArgument  states where the text is wrong. Decode checks the content.
Result<UniqueId> FromText(std::string_view text);

/// The invitation for NCCL_COMM_ID=host:port. Every rank derives the same one from the same text
/// and secret. `address` is the resolved `comm_id`.
Invitation FromCommId(std::string_view comm_id, const Address& address, std::string_view secret);

}  // namespace ringlet::rendezvous
