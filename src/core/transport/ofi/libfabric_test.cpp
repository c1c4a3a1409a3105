#include "transport/ofi/libfabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>

#include "os/clock.hpp"

namespace ringlet::transport::ofi {
namespace {

using testing::HasSubstr;

// Returns true if there is nothing to test. Otherwise a failure of the library or of its TCP
// provider is a failure of the test.
bool WasNotBuilt(const Result<std::shared_ptr<Fabric>>& opened) {
  return !opened.ok() && opened.error().message.find("built without") != std::string::npos;
}

bool OverTcp(const Fabric& fabric) {
  return fabric.provider().find("tcp") != std::string::npos;
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
  // Progresses both ends until `done()` returns true or 30 s have passed.
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

TEST_F(LibfabricTest, MessagesOfATagArriveInOrder) {
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

TEST_F(LibfabricTest, TheDescriptorReportsAMessageAfterArm) {
  if (!OverTcp(*ends_[1])) GTEST_SKIP() << ends_[1]->provider() << " may have none";
  ASSERT_GE(ends_[1]->descriptor(), 0);
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

TEST_F(LibfabricTest, ATooLongMessageFailsItsSlotUntilTheNextReceive) {
  Slot small = SlotOf(1), out = SlotOf(0);
  small.buffer = small.buffer.first(8);
  const auto peer = ends_[0]->Reach(ends_[1]->name()).value();
  ASSERT_TRUE(ends_[1]->Receive(6, small).value());
  EXPECT_EQ(ends_[1]->failures(), 0u);
  ASSERT_TRUE(Until([&] { return ends_[0]->Send(peer, 6, out, 64).value(); }));
  ASSERT_TRUE(Until([&] { return !small.pending && !out.pending; }));
  EXPECT_NE(small.failure, "");
  EXPECT_EQ(ends_[1]->failures(), 1u);
  ASSERT_TRUE(ends_[1]->Receive(6, small).value());
  EXPECT_TRUE(small.pending);
  EXPECT_EQ(small.failure, "");
}

TEST_F(LibfabricTest, ManyConcurrentMessagesArrive) {
  constexpr std::size_t kMessages = 40;
  std::vector<Slot> in;
  for (std::size_t i = 0; i < kMessages; ++i) in.push_back(SlotOf(1));
  for (Slot& slot : in) ASSERT_TRUE(ends_[1]->Receive(6, slot).value());
  Slot out = SlotOf(0);
  const auto peer = ends_[0]->Reach(ends_[1]->name()).value();
  for (std::size_t i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(Until([&] { return ends_[0]->Send(peer, 6, out, i + 1).value(); }));
    ASSERT_TRUE(Until([&] { return !out.pending; }));
  }
  ASSERT_TRUE(Until([&] { return !in.back().pending; }));
  for (std::size_t i = 0; i < kMessages; ++i) EXPECT_EQ(in[i].bytes, i + 1);
}

TEST_F(LibfabricTest, TagsAreComparedFromTheLowestBitOn) {
  const std::uint64_t mask = ends_[0]->tag_mask();
  EXPECT_EQ(mask & (mask + 1), 0u) << "without a hole";
  EXPECT_GE(mask, 0xffffffffu);
}

TEST_F(LibfabricTest, TcpRegistersNoMemoryAndUsesTheRequestedAddress) {
  if (!OverTcp(*ends_[0])) GTEST_SKIP() << ends_[0]->provider();
  EXPECT_EQ(SlotOf(0).registration, nullptr);
  const std::array loopback = {std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}};
  EXPECT_FALSE(std::ranges::search(ends_[0]->name(), loopback).empty());
}

TEST_F(LibfabricTest, WithoutAnAddressTheLibraryChooses) {
  const auto opened = OpenLibfabric({});
  EXPECT_TRUE(opened.ok()) << opened.error().message;
}

TEST_F(LibfabricTest, RefusesAProviderForThisHostOnly) {
  EXPECT_EQ(OpenLibfabric({.provider = "shm"}).error().code, Code::kUnsupported);
}

TEST_F(LibfabricTest, RefusesAnAddressOfAnotherLength) {
  EXPECT_EQ(ends_[0]->Reach(ends_[1]->name().first(3)).error().code, Code::kProtocol);
}

TEST_F(LibfabricTest, NamesAMissingProvider) {
  const auto opened = OpenLibfabric({.provider = "no_such_provider"});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::kUnsupported);
  EXPECT_THAT(opened.error().message, HasSubstr("no_such_provider"));
}

}  // namespace
}  // namespace ringlet::transport::ofi
