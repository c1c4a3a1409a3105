// Remembers states of a search that led to no better result, so that the search visits each once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/value/prng.hpp"

namespace ringlet::plan {

/// Spreads the bits of a number over all 64. Scatter(0) is not 0.
constexpr std::uint64_t Scatter(std::uint64_t number) {
  return Prng(number).Next();
}

/// A table of fixed size. If two states map to one place, the later one stays. The table compares
/// states by 64-bit hashes. Two of the 16,384 states of a search collide once in 10^11 searches.
class TranspositionTable {
 public:
  struct End {
    std::int64_t steps = 0;  ///< steps of the search from here until it returned
    std::int64_t hops = 0;   ///< hops of the channels placed before
  };

  /// Forgets all states in constant time.
  void Clear() {
    ++generation_;
    asked_ = known_ = 0;
  }

  /// Returns true while lookups are worthwhile: enough of them have found a state.
  bool pays() const { return asked_ < kAskedMin || known_ * kKnownPart >= asked_; }

  /// Null if the state is unknown. The pointer is valid until the next call of Add().
  const End* Find(std::uint64_t state) {
    ++asked_;
    if (places_.empty()) return nullptr;
    const StateSlot& place = places_[state % places_.size()];
    if (place.state != state || place.generation != generation_) return nullptr;
    ++known_;
    return &place.end;
  }

  void Add(std::uint64_t state, End end) {
    // The table starts small, because most searches are short.
    if (++added_ * 2 > places_.size() && places_.size() < kPlacesMax) Grow();
    places_[state % places_.size()] = {state, generation_, end};
  }

 private:
  static constexpr std::size_t kPlacesMin = 256;
  static constexpr std::size_t kPlacesMax = 4'096;
  static constexpr std::uint64_t kAskedMin = 512;
  static constexpr std::uint64_t kKnownPart = 12;
  struct StateSlot {
    std::uint64_t state = 0;
    std::uint64_t generation = 0;
    End end = {};
  };

  void Grow() {
    std::vector<StateSlot> more(places_.empty() ? kPlacesMin : kPlacesMax);
    for (const StateSlot& place : places_) more[place.state % more.size()] = place;
    places_ = std::move(more);
  }

  std::vector<StateSlot> places_;
  std::size_t added_ = 0;
  std::uint64_t generation_ = 1;
  std::uint64_t asked_ = 0, known_ = 0;
};

}  // namespace ringlet::plan
