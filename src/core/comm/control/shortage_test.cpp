#include "comm/control/shortage.hpp"

#include <gtest/gtest.h>

namespace ringlet::comm {
namespace {

constexpr Instant kPeriod = ShortageWatch::kPeriod;

// Returns the result of looks at these counts, one per period.
Instant After(ShortageWatch& watch, Instant& now, std::initializer_list<std::uint64_t> counts) {
  Instant lasts{0};
  for (const std::uint64_t count : counts) lasts = watch.Look(count, now += kPeriod);
  return lasts;
}

TEST(ShortageWatch, APersistentShortageHasADuration) {
  ShortageWatch watch(3);
  Instant now(1);
  EXPECT_EQ(After(watch, now, {4, 5, 5, 5, 6, 6, 6, 6}), Instant(0));
  EXPECT_EQ(After(watch, now, {7}), ShortageWatch::kLasts);
}

TEST(ShortageWatch, APastShortageDoesNotCount) {
  ShortageWatch watch(3);
  Instant now(1);
  EXPECT_EQ(After(watch, now, {4, 5, 6, 7, 8}), Instant(0));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(After(watch, now, {8}), Instant(0));
  EXPECT_EQ(After(watch, now, {9, 10}), Instant(0)) << "another one, which has just begun";
}

TEST(ShortageWatch, IgnoresShortagesBeforeItsStart) {
  ShortageWatch watch(3);
  Instant now(1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(After(watch, now, {3}), Instant(0));
}

TEST(ShortageText, NamesTheExhaustedLimit) {
  EXPECT_EQ(ShortageText({.open = 63, .limit = 64}),
            "63 of at most 64 are open in its process (EMFILE): raise ulimit -n");
  EXPECT_EQ(ShortageText({.open = 63, .limit = 1024}),
            "63 of at most 1024 are open in its process (ENFILE): raise "
            "fs.file-max of the host");
}

}  // namespace
}  // namespace ringlet::comm
