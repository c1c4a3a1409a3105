#include "os/fs/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace ringlet::os {
namespace {

bool IsOpen(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

Fd OpenNull() {
  return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(Fd, ClosesAtItsEnd) {
  int value = -1;
  {
    const Fd fd = OpenNull();
    value = fd.get();
    EXPECT_TRUE(fd.valid());
    EXPECT_TRUE(IsOpen(value));
  }
  EXPECT_FALSE(IsOpen(value));
  EXPECT_FALSE(Fd().valid());
}

TEST(Fd, MovesWithoutClosingAndClosesWhatItReplaces) {
  Fd first = OpenNull();
  const int value = first.get();
  Fd second = OpenNull();
  const int replaced = second.get();
  second = std::move(first);
  EXPECT_EQ(second.get(), value);
  EXPECT_TRUE(IsOpen(value));
  EXPECT_FALSE(IsOpen(replaced));
  Fd third = std::move(second);
  EXPECT_EQ(third.get(), value);
  EXPECT_FALSE(second.valid());  // NOLINT(bugprone-use-after-move): that it is empty is the point
  Fd& same = third;
  third = std::move(same);
  EXPECT_TRUE(IsOpen(value));
}

TEST(Fd, ReleaseGivesUpOwnershipAndCloseIsIdempotent) {
  Fd fd = OpenNull();
  const int value = fd.Release();
  fd.Close();
  EXPECT_TRUE(IsOpen(value));
  Fd again(value);
  again.Close();
  EXPECT_FALSE(again.valid());  // else it would close a descriptor reused by other code
  again.Close();
  EXPECT_FALSE(IsOpen(value));
}

TEST(Keep, ClosesWithTheLastCopy) {
  Fd fd = OpenNull();
  const int value = fd.get();
  Descriptor descriptor = Keep(std::move(fd));
  EXPECT_EQ(descriptor.value, value);
  Descriptor copy = descriptor;
  descriptor = Descriptor();
  EXPECT_TRUE(IsOpen(value));
  copy = Descriptor();
  EXPECT_FALSE(IsOpen(value));
}

}  // namespace
}  // namespace ringlet::os
