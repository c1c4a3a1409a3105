#include "comm/service/occupancy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace ringlet::comm {
namespace {

TEST(Occupancy, IsGrantedToASingleThread) {
  SingleUse use;
  std::optional<Occupancy> first(std::in_place, use);
  EXPECT_TRUE(first->granted());
  const Occupancy second(use);
  EXPECT_FALSE(second.granted());
  EXPECT_THAT(second.Check().error().message, testing::HasSubstr("another thread is in a call"));
  first.reset();
  EXPECT_TRUE(Occupancy(use).Check().ok()) << "the second did not hold it";
}

}  // namespace
}  // namespace ringlet::comm
