#include "sim/id_table.hpp"

#include <utility>

#include "ringlet/status.hpp"

namespace ringlet::sim {
namespace {

constexpr std::size_t kPlacesFirst = 16;  // a power of two, like all later sizes

}  // namespace

std::size_t IdTable::HomeOf(std::uint64_t key) const {
  std::uint64_t mixed = key * 0x9e3779b97f4a7c15u;
  mixed ^= mixed >> 32;
  return static_cast<std::size_t>(mixed) & (keys_.size() - 1);
}

// Returns the place of the key, or the free place for it. One always exists.
std::size_t IdTable::PlaceOf(std::uint64_t key) const {
  std::size_t place = HomeOf(key);
  while (keys_[place] != key && keys_[place] != kNoKey) place = (place + 1) & (keys_.size() - 1);
  return place;
}

void IdTable::Set(std::uint64_t key, std::uint32_t value) {
  RINGLET_ASSERT(key != kNoKey);
  if (8 * (size_ + 1) > 5 * keys_.size()) Grow();
  const std::size_t place = PlaceOf(key);
  size_ += keys_[place] == kNoKey;
  keys_[place] = key;
  values_[place] = value;
}

std::optional<std::uint32_t> IdTable::Find(std::uint64_t key) const {
  if (size_ == 0) return std::nullopt;
  const std::size_t place = PlaceOf(key);
  if (keys_[place] == kNoKey) return std::nullopt;
  return values_[place];
}

void IdTable::Erase(std::uint64_t key) {
  if (size_ == 0) return;
  std::size_t hole = PlaceOf(key);
  if (keys_[hole] == kNoKey) return;
  // A displaced entry beyond the hole moves up into it. Otherwise a search ends too early.
  const std::size_t mask = keys_.size() - 1;
  for (std::size_t next = (hole + 1) & mask; keys_[next] != kNoKey; next = (next + 1) & mask) {
    const std::size_t home = HomeOf(keys_[next]);
    const bool fits_before = ((next - home) & mask) >= ((next - hole) & mask);
    if (!fits_before) continue;
    keys_[hole] = keys_[next];
    values_[hole] = values_[next];
    hole = next;
  }
  keys_[hole] = kNoKey;
  --size_;
}

void IdTable::Grow() {
  const std::size_t places = keys_.empty() ? kPlacesFirst : keys_.size() * 2;
  const auto keys = std::exchange(keys_, std::vector<std::uint64_t>(places, kNoKey));
  const auto values = std::exchange(values_, std::vector<std::uint32_t>(places));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == kNoKey) continue;
    const std::size_t place = PlaceOf(keys[i]);
    keys_[place] = keys[i];
    values_[place] = values[i];
  }
}

}  // namespace ringlet::sim
