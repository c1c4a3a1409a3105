#include "frontends/torch/process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ringlet::torch_api {
namespace {

TEST(SharedProcess, IsOneForAllAndGoesWithTheLast) {
  auto first = SharedProcess();
  ASSERT_TRUE(first.ok()) << first.error().message;
  auto second = SharedProcess();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*first, *second);
  const std::weak_ptr<comm::Process> seen = *first;
  *first = nullptr;
  *second = nullptr;
  EXPECT_TRUE(seen.expired());
}

TEST(ReachableAddress, IsOneOfThisHostWithoutAPort) {
  const auto said = ReachableAddress();
  ASSERT_TRUE(said.ok()) << said.error().message;
  const auto process = SharedProcess();
  ASSERT_TRUE(process.ok());
  const Address first = (*process)->ReachableAddresses().value().front();
  EXPECT_EQ(
      ParseAddress(first.kind == Address::Kind::kIpv6 ? "[" + *said + "]:0" : *said + ":0").value(),
      first);
}

TEST(ForkGuard, IsElsewhereInTheChildOfAFork) {
  const ForkGuard fork_guard;
  EXPECT_TRUE(fork_guard.IsHere());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fork_guard.IsHere() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ringlet::torch_api
