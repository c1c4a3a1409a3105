#include "transport/ofi/libfabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "os/clock.hpp"

namespace ringlet::transport::ofi {
namespace {

using testing::HasSubstr;

// Only then there is nothing to test: that the library, or its provider for TCP, does not work is a
// failure.
bool WasNotBuilt(const Result<std::shared_ptr<Fabric>>& opened) {
  return !opened.ok() && opened.error().message.find("built without") != std::string::npos;
}

class LibfabricTest : public testing::Test {
 protected:
  void SetUp() override {
    for (auto& fabric : ends_) {
      auto opened = OpenLibfabric({.source = Address::Ipv4(127, 0, 0, 1, 0)});
      if (WasNotBuilt(opened)) GTEST_SKIP() << opened.error().message;
      ASSERT_TRUE(opened.ok()) << opened.error().message;
      fabric = std::move(*opened);
    }
  }
  // Progress on both ends, until `done()` or half a minute has passed.
  template <typename Done>
  bool Until(Done done) {
    const Instant until = os::Now() + std::chrono::seconds(30);
    while (!done()) {
      if (os::Now() > until) return false;
      for (auto& fabric : ends_) fabric->Progress();
    }
    return true;
  }
  Slot SlotOf(int end) {
    memory_.push_back(ends_[end]->Allocate(64).value());
    Slot slot;
    slot.buffer = memory_.back()->bytes();
    slot.registration = memory_.back()->registration();
    return slot;
  }

  std::shared_ptr<Fabric> ends_[2];
  std::vector<std::shared_ptr<Memory>> memory_;
};

TEST_F(LibfabricTest, MessagesOfATagComeInOrder) {
  Slot first = SlotOf(1), second = SlotOf(1), other = SlotOf(1), out = SlotOf(0);
  ASSERT_TRUE(ends_[1]->Receive(6, first).value());
  ASSERT_TRUE(ends_[1]->Receive(6, second).value());
  ASSERT_TRUE(ends_[1]->Receive(7, other).value());
  const auto peer = ends_[0]->Reach(ends_[1]->name()).value();
  for (const std::size_t bytes : {3u, 5u}) {
    ASSERT_TRUE(Until([&] { return ends_[0]->Send(peer, 6, out, bytes).value(); }));
    ASSERT_TRUE(Until([&] { return !out.pending; }));
    EXPECT_EQ(out.failure, "");
  }
  ASSERT_TRUE(Until([&] { return !second.pending; }));
  EXPECT_EQ(first.bytes, 3u);
  EXPECT_EQ(second.bytes, 5u);
  EXPECT_TRUE(other.pending);
}

TEST_F(LibfabricTest, TheDescriptorTellsOfAMessageAfterArm) {
  if (ends_[1]->descriptor() < 0) GTEST_SKIP() << "this provider has no descriptor to wait for";
  Slot in = SlotOf(1), out = SlotOf(0);
  ASSERT_TRUE(ends_[1]->Receive(6, in).value());
  const auto peer = ends_[0]->Reach(ends_[1]->name()).value();
  ASSERT_TRUE(Until([&] { return ends_[0]->Send(peer, 6, out, 1).value(); }));
  while (in.pending) {
    ends_[0]->Progress();
    if (!ends_[1]->Arm()) continue;
    pollfd news{ends_[1]->descriptor(), POLLIN, 0};
    ASSERT_EQ(::poll(&news, 1, 30'000), 1) << "nobody was woken";
  }
  EXPECT_EQ(in.bytes, 1u);
}

TEST_F(LibfabricTest, ANameOfAnotherLengthIsRefused) {
  EXPECT_EQ(ends_[0]->Reach(ends_[1]->name().first(3)).error().code, Code::kProtocol);
}

TEST_F(LibfabricTest, AProviderThatIsNotThereIsNamed) {
  const auto opened = OpenLibfabric({.provider = "no_such_provider"});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::kUnsupported);
  EXPECT_THAT(opened.error().message, HasSubstr("no_such_provider"));
}

}  // namespace
}  // namespace ringlet::transport::ofi
