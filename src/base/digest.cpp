#include "base/digest.hpp"

namespace ringlet {

Digest& Digest::Add(View bytes) {
  for (const std::byte b : bytes)
    state_ = (state_ ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3u;
  return *this;
}

Digest& Digest::Add(std::uint64_t value) {
  for (int i = 0; i < 8; ++i) state_ = (state_ ^ ((value >> (8 * i)) & 0xff)) * 0x100000001b3u;
  return *this;
}

std::uint64_t Digest::value() const {
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace ringlet
