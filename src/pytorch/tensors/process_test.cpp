#include "pytorch/tensors/process.hpp"

#include <gtest/gtest.h>

namespace ringlet::torch_api {
namespace {

TEST(SharedProcess, IsSharedAndEndsWithItsLastUser) {
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

TEST(ProcessNumber, IsStableWithinTheProcess) {
  const auto first = ProcessNumber();
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_NE(*first, 0u);
  EXPECT_EQ(ProcessNumber().value(), *first) << "although the process behind all groups is another";
}

TEST(HasEnded, IsTrueAfterTheBeaconCloses) {
  const auto process = SharedProcess();
  auto beacon = comm::Beacon::Start(**process);
  ASSERT_TRUE(beacon.ok());
  const Address address = (*beacon)->address();
  EXPECT_FALSE(HasEnded(address));
  *beacon = nullptr;
  bool ended = false;
  for (int look = 0; look < 100'000 && !ended; ++look) ended = HasEnded(address);
  EXPECT_TRUE(ended);
}

TEST(ReachableAddress, IsAnAddressOfThisHostWithoutAPort) {
  const auto said = ReachableAddress();
  ASSERT_TRUE(said.ok()) << said.error().message;
  const auto process = SharedProcess();
  ASSERT_TRUE(process.ok());
  const Address first = (*process)->host_reader().ReachableAddresses().value().front();
  EXPECT_EQ(
      ParseAddress(first.kind == Address::Kind::kIpv6 ? "[" + *said + "]:0" : *said + ":0").value(),
      first);
}

}  // namespace
}  // namespace ringlet::torch_api
