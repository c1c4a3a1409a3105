// The contents of a unique id, and their form in 128 bytes. Layout: docs/reference/wire.md.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/value/address.hpp"
#include "base/wire/handshake.hpp"
#include "ringlet/unique_id.hpp"

namespace ringlet::rendezvous {

/// The contents of a UniqueId: who is invited to what, and where the root listens.
struct Invitation {
  Credentials credentials = {};
  std::vector<Address> roots = {};  ///< every address of the root, best first
  std::uint32_t parent_size = 0;    ///< 0, or the size of the communicator that this id grows
  /// The root's address was chosen by the user (NCCL_COMM_ID): no root listens there yet, and the
  /// rank 0 that uses the id opens it.
  bool fixed_address = false;
  /// The magic of the launched job's own id, where this id is the first that a process of the job
  /// made. A communicator of all ranks of the job meets at the job's id instead.
  std::optional<std::uint64_t> job = {};
  bool operator==(const Invitation&) const = default;
};

/// Addresses that do not fit are left out from the end: 9 of IPv4 or 2 of IPv6 fit, with `job` 8
/// or 2.
/// Errors  kInvalidArgument  no address at all.
Result<UniqueId> Encode(const Invitation& invitation);

/// Errors  kInvalidArgument  empty, foreign (an id of another library), of another version, or
///                           damaged; the sentence says which.
Result<Invitation> Decode(const UniqueId& id);

/// "ringlet1:" and 256 hexadecimal digits. It holds the secret: treat it as a password.
std::string ToText(const UniqueId& id);
/// Errors  kInvalidArgument  saying where the text is wrong. Does not look inside; Decode does.
Result<UniqueId> FromText(std::string_view text);

/// The invitation that NCCL_COMM_ID=host:port stands for. Every rank derives the same one from the
/// same text and secret; `address` is what `comm_id` resolves to.
Invitation FromCommId(std::string_view comm_id, const Address& address, std::string_view secret);

}  // namespace ringlet::rendezvous
