#include "frontends/torch/process.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ringlet::torch_api
