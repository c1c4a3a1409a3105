#include "sim/id_table.hpp"

#include <gtest/gtest.h>

#include <unordered_map>

#include "base/value/prng.hpp"

namespace ringlet::sim {
namespace {

TEST(IdTable, AnEmptyTableFindsNoKey) {
  IdTable table;
  EXPECT_FALSE(table.Find(0));
  table.Erase(0);
  EXPECT_EQ(table.size(), 0u);
}

TEST(IdTable, SetReplacesTheValue) {
  IdTable table;
  table.Set(7, 1);
  table.Set(7, 2);
  EXPECT_EQ(table.Find(7), 2u);
  EXPECT_EQ(table.size(), 1u);
}

TEST(IdTable, GrowthKeepsTheEntries) {
  IdTable table;
  for (std::uint32_t key = 0; key < 1000; ++key) table.Set(key, key * 7 + 1);
  for (std::uint32_t key = 0; key < 1000; ++key) ASSERT_EQ(table.Find(key), key * 7 + 1);
  EXPECT_FALSE(table.Find(1000));
}

// Uses few different keys, so runs of neighbours form, break by erasing and wrap around.
TEST(IdTable, BehavesLikeAMap) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng prng(seed);
    IdTable table;
    std::unordered_map<std::uint64_t, std::uint32_t> map;
    const std::uint64_t keys = 10 + prng.Below(300);
    for (int i = 0; i < 5000; ++i) {
      const std::uint64_t key = prng.Below(keys) << (seed % 33);
      const auto value = static_cast<std::uint32_t>(prng.Next());
      if (prng.Chance(0.5)) {
        table.Set(key, value);
        map[key] = value;
      } else {
        table.Erase(key);
        map.erase(key);
      }
      ASSERT_EQ(table.size(), map.size());
    }
    for (std::uint64_t i = 0; i < keys; ++i) {
      const std::uint64_t key = i << (seed % 33);
      const auto found = map.find(key);
      ASSERT_EQ(table.Find(key), found == map.end() ? std::nullopt : std::optional(found->second))
          << "seed " << seed << ", key " << key;
    }
  }
}

}  // namespace
}  // namespace ringlet::sim
