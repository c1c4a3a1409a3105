// The unique id: 128 bytes that connect the members of a communicator.
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

/// Environment variables that override those of the process, such as {{"RINGLET_SOCKET_IFNAME",
/// "eth1"}}. docs/reference/settings.md lists names and values.
using Environment = std::map<std::string, std::string, std::less<>>;

/// Opaque and copied by value. The caller transports it to every member (a store, a file, MPI). It
/// contains a secret: each holder can join. See docs/reference/wire.md.
struct UniqueId {
  static constexpr std::size_t kBytes = 128;
  std::array<std::byte, kBytes> bytes{};  ///< transported unchanged

  /// Creates the id of one communicator and starts its root in this process, which must live until
  /// the communicator is formed. One rank calls it and distributes the id to the others.
  ///
  /// Under `ringlet run`, the ranks of the job's first communicator meet even if each of them calls
  /// this function and passes its own id. With RINGLET_COMM_ID the id names that address, and rank
  /// 0 starts the root. Any thread may call it. Does not wait for other ranks.
  /// \param environment  as CommunicatorOptions::environment
  /// Errors  kInvalidArgument  a setting is wrong; the message names it
  ///         kSystem           no file descriptor or thread is available
  /// Cost    one listener per address family until the communicator is formed
  RINGLET_API static Result<UniqueId> Create(const Environment& environment = {});

  /// Returns the id as "ringlet1:" and 256 hexadecimal digits, for an argument or a file. The text
  /// contains the secret: treat it as a password.
  RINGLET_API std::string ToText() const;
  /// The inverse of ToText. Checks the form only; Create detects a missing root.
  /// Errors  kInvalidArgument  the text is malformed; the message states the defect
  RINGLET_API static Result<UniqueId> FromText(std::string_view text);

  /// Reads an id of `size` bytes at `data`, such as `bytes` or an ncclUniqueId.
  /// Errors  kInvalidArgument  `size` is not kBytes, or `data` is null
  RINGLET_API static Result<UniqueId> FromBytes(const void* data, std::size_t size);

  friend bool operator==(const UniqueId& a, const UniqueId& b) { return a.bytes == b.bytes; }
  friend bool operator!=(const UniqueId& a, const UniqueId& b) { return !(a == b); }
};

}  // namespace ringlet
