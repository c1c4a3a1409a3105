// A map from 64-bit keys to 32-bit values: 12 bytes per place, no allocation per entry.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace ringlet::sim {

/// Open addressing with linear probing, at most 5/8 full. A million machines have some four million
/// ends of lines; std::map takes five times the memory.
class IdTable {
 public:
  /// Reserved key that marks a free place.
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

  /// Inserts or replaces the value. \param key  not kNoKey
  void Set(std::uint64_t key, std::uint32_t value);
  std::optional<std::uint32_t> Find(std::uint64_t key) const;
  /// Does not change the table if the key is absent.
  void Erase(std::uint64_t key);
  std::size_t size() const { return size_; }

 private:
  std::size_t HomeOf(std::uint64_t key) const;
  std::size_t PlaceOf(std::uint64_t key) const;
  void Grow();

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> values_;
  std::size_t size_ = 0;
};

}  // namespace ringlet::sim
