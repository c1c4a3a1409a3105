#include "base/value/digest.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "base/value/prng.hpp"

namespace ringlet {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kLanes = 4;

std::uint64_t LittleEndianWord(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, kWordBytes);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// Bijective in both arguments, so that no single change can vanish.
std::uint64_t Mix(std::uint64_t lane, std::uint64_t word) {
  lane = (lane ^ word) * 0x9e3779b97f4a7c15u;
  return lane ^ (lane >> 32);
}

}  // namespace

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
  return SpreadBits(state_);
}

std::uint64_t BulkDigestOf(View bytes) {
  std::array<std::uint64_t, kLanes> lanes = {1, 2, 3, 4};
  const std::uint64_t size = bytes.size();
  for (; bytes.size() >= kLanes * kWordBytes; bytes = bytes.subspan(kLanes * kWordBytes))
    for (std::size_t i = 0; i < kLanes; ++i)
      lanes[i] = Mix(lanes[i], LittleEndianWord(bytes.data() + i * kWordBytes));
  Digest joined;
  for (const std::uint64_t lane : lanes) joined.Add(lane);
  return joined.Add(bytes).Add(size).value();
}

}  // namespace ringlet
