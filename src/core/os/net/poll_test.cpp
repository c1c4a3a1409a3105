#include "os/net/poll.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ringlet::os {
namespace {

TEST(PollReadable, ReturnsWhenADescriptorIsReadable) {
  int quiet[2];
  int news[2];
  ASSERT_EQ(::pipe(quiet), 0);
  ASSERT_EQ(::pipe(news), 0);
  ASSERT_EQ(::write(news[1], "x", 1), 1);
  const int descriptors[] = {quiet[0], news[0]};
  // If it missed the news it would hang for an hour, and the test's time limit would report that.
  PollReadable(descriptors, std::chrono::hours(1));
  for (const int descriptor : {quiet[0], quiet[1], news[0], news[1]}) ::close(descriptor);
}

TEST(PollReadable, ReturnsAtItsTimeout) {
  int quiet[2];
  ASSERT_EQ(::pipe(quiet), 0);
  const int descriptors[] = {quiet[0]};
  PollReadable(descriptors, std::chrono::nanoseconds(1));
  PollReadable(descriptors, std::chrono::nanoseconds(-1));
  PollReadable({}, std::chrono::nanoseconds(0));
  ::close(quiet[0]);
  ::close(quiet[1]);
}

}  // namespace
}  // namespace ringlet::os
