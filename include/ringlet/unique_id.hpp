// The 128 bytes by which the members of one communicator find each other.
#pragma once
#include <array>
#include <cstddef>

namespace ringlet {

/// Opaque, copied by value, carried to every member by the caller (a store, a file, MPI).
/// Whoever holds it can join: it contains the communicator's secret. See docs/wire.md.
struct UniqueId {
  static constexpr std::size_t kBytes = 128;
  std::array<std::byte, kBytes> bytes{};
  bool operator==(const UniqueId&) const = default;
};

}  // namespace ringlet
