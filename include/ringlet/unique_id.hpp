// The 128 bytes by which the members of one communicator find each other.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "ringlet/export.hpp"
#include "ringlet/status.hpp"

namespace ringlet {

/// Environment variables that stand in for those of the process, such as
/// {{"RINGLET_SOCKET_IFNAME", "eth1"}}. Names and values: docs/reference/settings.md.
using Environment = std::map<std::string, std::string, std::less<>>;

/// Opaque, copied by value, carried to every member by the caller (a store, a file, MPI).
/// Each holder of it can join: it contains the communicator's secret. See docs/reference/wire.md.
struct UniqueId {
  static constexpr std::size_t kBytes = 128;
  std::array<std::byte, kBytes> bytes{};  ///< to be carried as they are

  /// Makes the id of one communicator and starts its root in this process, which must live until
  /// the communicator is formed. One rank calls it; the others get the id from that one.
  ///
  /// Under `ringlet run` the ranks of the first communicator of the whole job meet even if each of
  /// them calls this and passes the id that it got. With RINGLET_COMM_ID the id names that address,
  /// and rank 0 starts the root. \param environment  as CommunicatorOptions::environment Any
  /// thread. Does not wait for other ranks. Errors  kInvalidArgument  a setting is wrong; names it
  ///         kSystem           no file descriptor, no thread
  /// Cost    one listener per address family until the communicator is formed
  RINGLET_API static Result<UniqueId> Create(const Environment& environment = {});

  /// The id as "ringlet1:" and 256 hexadecimal digits, for an argument or a file. It holds the
  /// secret: treat it as a password.
  RINGLET_API std::string ToText() const;
  /// The inverse of ToText. Looks at the form only; an id that no root serves is found out by
  /// Communicator::Create.
  /// Errors  kInvalidArgument  says where the text is wrong
  RINGLET_API static Result<UniqueId> FromText(std::string_view text);

  /// The id that was carried as `size` bytes at `data`, such as `bytes` or an ncclUniqueId.
  /// Errors  kInvalidArgument  `size` is not kBytes, or `data` is null
  RINGLET_API static Result<UniqueId> FromBytes(const void* data, std::size_t size);

  friend bool operator==(const UniqueId& a, const UniqueId& b) { return a.bytes == b.bytes; }
  friend bool operator!=(const UniqueId& a, const UniqueId& b) { return !(a == b); }
};

}  // namespace ringlet
