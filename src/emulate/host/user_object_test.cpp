#include "emulate/host/user_object.hpp"

#include <gtest/gtest.h>

namespace ringlet::cuda {
namespace {

void Count(void* data) {
  ++*static_cast<int*>(data);
}

TEST(UserObjectTest, IsDestroyedWithItsLastReference) {
  UserObjects objects;
  int ends = 0;
  void* const object = *objects.Create(&ends, Count, 2);
  EXPECT_TRUE(objects.Retain(object, 1).ok());
  EXPECT_TRUE(objects.Release(object, 2).ok());
  EXPECT_EQ(ends, 0);
  EXPECT_FALSE(objects.Release(object, 2).ok());
  EXPECT_TRUE(objects.Release(object, 1).ok());
  EXPECT_EQ(ends, 1);
  EXPECT_FALSE(objects.Release(object, 1).ok());
  EXPECT_FALSE(objects.Retain(object, 1).ok());
}

TEST(UserObjectTest, RefusesInvalidHandlesAndCounts) {
  UserObjects objects;
  int ends = 0;
  EXPECT_FALSE(objects.Create(&ends, nullptr, 1).ok());
  EXPECT_FALSE(objects.Create(&ends, Count, 0).ok());
  EXPECT_FALSE(objects.Retain(&ends, 1).ok());
  EXPECT_FALSE(objects.Release(nullptr, 1).ok());
  void* const object = *objects.Create(&ends, Count, 1);
  EXPECT_FALSE(objects.Retain(object, 0).ok());
  EXPECT_TRUE(objects.Release(object, 1).ok());
}

}  // namespace
}  // namespace ringlet::cuda
