#include "os/process/random.hpp"

#include <gtest/gtest.h>

namespace ringlet::os {
namespace {

TEST(SecureRandomTest, NoTwoDrawsAreEqualOrZero) {
  const Secret a = SecureRandom().value();
  const Secret b = SecureRandom().value();
  EXPECT_NE(a, b);
  EXPECT_NE(a, Secret{});
}

}  // namespace
}  // namespace ringlet::os
