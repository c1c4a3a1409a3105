#include "transport/shm/shm_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace ringlet::transport {
namespace {

using testing::HasSubstr;

// A rank with a segment of two pipes; the peer uses the second.
struct Side {
  Side() {
    segment = Segment::Create(SegmentShape{.pipes = 2, .pipe_bytes = 64}).value();
    waiter = DoorbellWaiter::Create(segment->word(), {}).value();
    offer = MakeShmOffer(*segment, 1, waiter->event_fd()).value();
  }
  std::shared_ptr<Segment> segment;
  std::unique_ptr<DoorbellWaiter> waiter;
  ShmOffer offer;
};

struct ShmRig {
  ShmRig() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    lines[0] = os::Fd(fds[0]);
    lines[1] = os::Fd(fds[1]);
  }
  Result<std::unique_ptr<Link>> Make(std::size_t side) {
    return MakeFrom(side, sides[1 - side].offer);
  }
  Result<std::unique_ptr<Link>> MakeFrom(std::size_t side, const ShmOffer& offer) {
    return MakeShmLink(ShmLinkParts{.peer = static_cast<Rank>(1 - side),
                                    .peer_name = "rank " + std::to_string(1 - side) + " on here",
                                    .own = sides[side].segment,
                                    .pipe = 1,
                                    .reply = offer.bytes,
                                    .descriptors = offer.descriptors,
                                    .line = std::move(lines[side]),
                                    .prefault = true},
                       *sides[side].waiter);
  }
  Side sides[2];
  os::Fd lines[2];
};

TEST(ShmLink, CarriesDataAndWakesThePeer) {
  ShmRig rig;
  auto a = rig.Make(0), b = rig.Make(1);
  ASSERT_TRUE(a.ok() && b.ok());
  rig.sides[1].waiter->Acknowledge();
  rig.sides[1].waiter->PrepareDescriptor();
  ASSERT_EQ((*a)->Write(AsView("hello")).value(), 5u);
  rig.sides[1].waiter->Wait(rig.sides[1].waiter->Prepare(), std::chrono::nanoseconds(1));
  EXPECT_EQ(AsText((*b)->Peek().value()), "hello");
  EXPECT_EQ((*a)->kind(), "shm");
}

TEST(ShmLink, FetchesFromThePeersProcess) {
  ShmRig rig;
  auto a = rig.Make(0), b = rig.Make(1);
  ASSERT_TRUE(a.ok() && b.ok());
  const Bytes data(64 << 10, std::byte{'d'});
  const std::uint64_t offer = (*a)->SendRts(data);
  ASSERT_NE(offer, 0u);
  Bytes copy(data.size());
  ASSERT_TRUE((*b)->Get(offer, 0, copy, Copy).value());
  EXPECT_EQ(copy, data);
  (*b)->SendAck(true);
  EXPECT_EQ((*a)->TakeAck().value(), true);
}

// A killed process leaves bytes in the pipe and a closed line, without closing the pipe.
TEST(ShmLink, APeerThatDiesIsLostAfterItsData) {
  ShmRig rig;
  auto a = rig.Make(0);
  ASSERT_TRUE(a.ok());
  const SegmentShape shape = rig.sides[0].segment->shape();
  os::Fd copy(::dup(rig.sides[0].offer.descriptors[0].value));
  auto mapped = Segment::Map(std::move(copy), shape);
  ASSERT_TRUE(mapped.ok());
  PipeWriter writer((*mapped)->Pipe(1), rig.sides[0].waiter->button());
  ASSERT_EQ(writer.Write(AsView("bye")).value(), 3u);
  rig.lines[1].Close();
  Waiter& waiter = *rig.sides[0].waiter;
  waiter.Wait(waiter.Prepare(), std::chrono::seconds(30));
  Bytes out(10);
  EXPECT_EQ((*a)->Read(out).value(), 3u);
  EXPECT_EQ((*a)->Read(out).error().code, Code::kPeerLost);
}

TEST(ShmLink, RefusesMalformedOffers) {
  for (int wrong = 0; wrong < 6; ++wrong) {
    ShmRig rig;
    ShmOffer offer = rig.sides[1].offer;
    switch (wrong) {
      case 0: offer.bytes.pop_back(); break;
      case 1: offer.bytes[0] = std::byte{9}; break;   // version
      case 2: offer.bytes[13] = std::byte{2}; break;  // pipe 2 of 2
      case 3: offer.bytes[1] = std::byte{3}; break;   // more pipes than exist
      case 4: offer.descriptors.pop_back(); break;
      default: std::swap(offer.descriptors[0], offer.descriptors[1]);
    }
    const auto link = rig.MakeFrom(0, offer);
    ASSERT_FALSE(link.ok()) << wrong;
    EXPECT_EQ(link.error().code, Code::kProtocol) << wrong;
    EXPECT_THAT(link.error().message, HasSubstr("rank 1 on here")) << wrong;
  }
}

TEST(ShmLink, ABlockingDoorbellIsRefused) {
  ShmRig rig;
  ShmOffer offer = rig.sides[1].offer;
  offer.descriptors[1] = os::Keep(os::Fd(::eventfd(0, 0)));
  EXPECT_EQ(rig.MakeFrom(0, offer).error().code, Code::kProtocol);
}

}  // namespace
}  // namespace ringlet::transport
