#include "os/process/limits.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/fs/fd.hpp"

namespace ringlet::os {
namespace {

TEST(Limits, RaisesTheDescriptorLimitToItsMaximum) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = before.rlim_max / 2;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(RaiseDescriptorLimit(), before.rlim_max);
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  EXPECT_EQ(RaiseDescriptorLimit(), before.rlim_max) << "again is harmless";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(Limits, CountsOpenDescriptors) {
  const DescriptorUse before = CountDescriptors();
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(before.limit, limit.rlim_cur);
  const Fd one(::dup(STDERR_FILENO)), two(::dup(STDERR_FILENO));
  EXPECT_EQ(CountDescriptors().open, before.open + 2);
}

TEST(Limits, UsableCoresFollowTheAffinity) {
  cpu_set_t before;
  CPU_ZERO(&before);
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(UsableCores(), static_cast<std::uint32_t>(CPU_COUNT(&before)));
  std::size_t first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(UsableCores(), 1u);
  EXPECT_EQ(UsableCpus(), std::vector{static_cast<std::uint32_t>(first)});
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace ringlet::os
