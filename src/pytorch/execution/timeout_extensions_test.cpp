#include "pytorch/execution/timeout_extensions.hpp"

#include <gtest/gtest.h>

namespace ringlet::torch_api {
namespace {

using std::chrono::milliseconds;

TEST(TimeoutExtensions, DefaultToZero) {
  TimeoutExtensions extensions;
  EXPECT_EQ(extensions.Begin(1), milliseconds(0));
  extensions.End(1);
}

TEST(TimeoutExtensions, LastUntilTheFirstLaterOperationEnds) {
  TimeoutExtensions extensions;
  EXPECT_EQ(extensions.Begin(1), milliseconds(0));
  extensions.Add(milliseconds(10));
  EXPECT_EQ(extensions.Begin(2), milliseconds(10));
  EXPECT_EQ(extensions.Begin(3), milliseconds(10));
  extensions.End(1);
  extensions.End(3);
  EXPECT_EQ(extensions.Begin(4), milliseconds(10));
  extensions.End(2);
  EXPECT_EQ(extensions.Begin(5), milliseconds(0));
}

TEST(TimeoutExtensions, AddUpAndExpireSeparately) {
  TimeoutExtensions extensions;
  extensions.Add(milliseconds(1));
  EXPECT_EQ(extensions.Begin(1), milliseconds(1));
  extensions.Add(milliseconds(10));
  extensions.Add(milliseconds(100));
  EXPECT_EQ(extensions.Begin(2), milliseconds(111));
  extensions.End(1);
  EXPECT_EQ(extensions.Begin(3), milliseconds(110));
  extensions.End(2);
  EXPECT_EQ(extensions.Begin(4), milliseconds(0));
}

}  // namespace
}  // namespace ringlet::torch_api
