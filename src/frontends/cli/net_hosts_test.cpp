// What goes through it is tested in test/integration.
#include "frontends/cli/net_hosts.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace ringlet::cli {
namespace {

TEST(NetHostsTest, TheirNamespacesAreHeldByThisProcessAlone) {
  EXPECT_EQ(NetHosts::AddressOf(0), "10.213.0.1");
  auto made = NetHosts::Make({.hosts = 2, .mb_per_s = 0, .delay = std::chrono::milliseconds(1)});
  if (!made.ok()) GTEST_SKIP() << made.error().message;
  const std::string path = (*made)->SpacePath(1);
  EXPECT_NE((*made)->SpacePath(0), path);
  EXPECT_TRUE(std::filesystem::exists(path));
  made->reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace ringlet::cli
