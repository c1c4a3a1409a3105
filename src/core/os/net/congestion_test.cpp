#include "os/net/congestion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <fstream>

namespace ringlet::os {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Fd Socket() {
  return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

TEST(Congestion, AnUnprivilegedAlgorithmIsChosen) {
  std::ifstream file("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  int chosen = 0;
  for (std::string name; file >> name; ++chosen) {
    EXPECT_TRUE(CheckCongestionControl(name).ok()) << name;
    const Fd socket = Socket();
    ASSERT_TRUE(SetCongestionControl(socket, name).ok()) << name;
    EXPECT_EQ(CongestionControlOf(socket), name);
  }
  if (chosen == 0) GTEST_SKIP() << "the kernel does not tell what may be chosen";
}

TEST(Congestion, TheErrorListsTheKnownAlgorithms) {
  const Status chosen = CheckCongestionControl("no_such");
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.error().code, Code::kInvalidArgument);
  EXPECT_THAT(chosen.error().message,
              AllOf(HasSubstr("\"no_such\""), HasSubstr(CongestionControlOf(Socket()))));
}

TEST(Congestion, AnInvalidSocketIsAnError) {
  EXPECT_FALSE(SetCongestionControl(Fd(), "reno").ok());
  EXPECT_EQ(CongestionControlOf(Fd()), "");
}

TEST(Congestion, TheErrorListsThePermittedAlgorithms) {
  const CongestionControls known{.available = "reno bbr cubic", .permitted = "reno bbr"};
  EXPECT_THAT(WhyNotCongestion("vegas", ENOENT, known),
              AllOf(HasSubstr("\"vegas\""), HasSubstr("it has: reno bbr cubic")));
  EXPECT_THAT(
      WhyNotCongestion("cubic", EPERM, known),
      AllOf(HasSubstr("reno bbr ("), HasSubstr("CAP_NET_ADMIN"), Not(HasSubstr("bbr cubic"))));
  EXPECT_THAT(WhyNotCongestion("x", EPERM, {}), HasSubstr("an unknown list"));
  EXPECT_THAT(WhyNotCongestion("x", EINVAL, known), HasSubstr("EINVAL"));
}

}  // namespace
}  // namespace ringlet::os
