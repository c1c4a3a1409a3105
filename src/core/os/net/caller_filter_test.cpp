// The driver decides on filters, so its tests check the effect of a filtered listener on callers.
#include "os/net/caller_filter.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "os/fs/fd.hpp"
#include "os/net/listener.hpp"

namespace ringlet::os {
namespace {

TEST(CallerFilter, AGreetingOfAnotherLengthIsRefused) {
  const auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  EXPECT_FALSE(AdmitOnly(listener->fd.get(), ""));
  EXPECT_FALSE(AdmitOnly(listener->fd.get(), "pin"));
  EXPECT_FALSE(AdmitOnly(listener->fd.get(), "pings"));
  EXPECT_TRUE(AdmitOnly(listener->fd.get(), "ping"));
  EXPECT_TRUE(AdmitOnly(listener->fd.get(), "pong")) << "in the place of the other";
}

TEST(CallerFilter, TheKernelHoldsCallersIfSynCookiesAreEnabled) {
  std::ifstream file("/proc/sys/net/ipv4/tcp_syncookies");
  int cookies = 0;
  file >> cookies;
  EXPECT_EQ(KernelHoldsCallers(), cookies != 0);
}

}  // namespace
}  // namespace ringlet::os
