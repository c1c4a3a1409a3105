// A 64-bit digest for checks of agreement, equal on all machines, compilers and versions of
// libstdc++.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/value/bytes.hpp"

namespace ringlet {

/// FNV-1a, 64 bits (Fowler, Noll, Vo), finished by splitmix64's mixer. Against accidents, not
/// attacks.
class Digest {
 public:
  Digest& Add(View bytes);
  Digest& Add(std::string_view text) { return Add(AsView(text)); }
  Digest& Add(std::uint64_t value);
  std::uint64_t value() const;

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

inline std::uint64_t DigestOf(View bytes) {
  return Digest().Add(bytes).value();
}

/// A digest for large inputs: four lanes of eight bytes, a multiplication each, joined by Digest.
/// 20 times as fast as DigestOf (0.05 ns a byte, not 1.0); returns another value.
std::uint64_t BulkDigestOf(View bytes);

}  // namespace ringlet
