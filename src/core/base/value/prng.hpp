// Seeded pseudo-random numbers. Equal seeds give equal numbers on every machine and compiler.
#pragma once
#include <cstdint>

namespace ringlet {

/// The mixer of splitmix64: a bijection that spreads the bits of a number over all 64.
constexpr std::uint64_t SpreadBits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). For
/// simulation, jitter and tests; secrets come from os::SecureRandom.
class Prng {
 public:
  explicit constexpr Prng(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t Next() { return SpreadBits(state_ += 0x9e3779b97f4a7c15u); }
  /// A number from 0 to bound - 1; bound > 0. The bias is below bound / 2^64.
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }
  bool Chance(double probability) {
    return static_cast<double>(Next() >> 11) * 0x1p-53 < probability;
  }

 private:
  std::uint64_t state_;
};

}  // namespace ringlet
