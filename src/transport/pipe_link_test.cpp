#include "transport/pipe_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "os/fd.hpp"

namespace ringlet::transport {
namespace {

using testing::HasSubstr;

struct Memory {
  struct alignas(64) Chunk {
    std::byte bytes[64] = {};
  };
  static constexpr std::size_t kFootprint = PipeFootprint(64);
  std::array<Chunk, 2 * kFootprint / sizeof(Chunk)> chunks;
  DoorbellWord words[2];
  os::Fd event{::eventfd(0, EFD_NONBLOCK)};

  PipePlace Place(std::size_t i) {
    return PipePlace::At(std::as_writable_bytes(std::span(chunks)).subspan(i * kFootprint), 64);
  }
};

struct Rig {
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();
  std::shared_ptr<std::atomic<bool>> gone = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<PipeLink> ends[2] = {Make(0, 0), Make(1, ::getpid())};

  std::unique_ptr<PipeLink> Make(std::size_t side, std::int32_t peer_pid) {
    const DoorbellButton bell(memory->words[1 - side], memory->event.get());
    return std::make_unique<PipeLink>(
        PipeLinkParts{.peer = static_cast<Rank>(1 - side),
                      .peer_name = "rank " + std::to_string(1 - side) + " on here (test)",
                      .kind = "test",
                      .out = PipeWriter(memory->Place(side), bell),
                      .in = PipeReader(memory->Place(1 - side), bell),
                      .memory = memory,
                      .gone = side == 0 ? gone : nullptr,
                      .peer_pid = peer_pid});
  }
};

TEST(PipeLink, CarriesBothWays) {
  Rig rig;
  Bytes out(10);
  EXPECT_EQ(rig.ends[0]->Write(AsView("ping")).value(), 4u);
  EXPECT_EQ(rig.ends[1]->Write(AsView("pong!")).value(), 5u);
  EXPECT_EQ(rig.ends[1]->Read(out).value(), 4u);
  EXPECT_EQ(AsText(rig.ends[0]->Peek().value()), "pong!");
  rig.ends[0]->Consume(5);
  EXPECT_TRUE(rig.ends[0]->Peek()->empty());
  EXPECT_EQ(rig.ends[0]->kind(), "test");
  EXPECT_EQ(rig.ends[0]->peer(), Rank{1});
}

TEST(PipeLink, DataFirstThenTheLoss) {
  Rig rig;
  ASSERT_EQ(rig.ends[1]->Write(AsView("last words")).value(), 10u);
  rig.ends[1].reset();
  EXPECT_EQ(rig.ends[0]->Write(AsView("x")).error().code, Code::kPeerLost);
  EXPECT_EQ(rig.ends[0]->Peek()->size(), 10u);
  Bytes out(100);
  EXPECT_EQ(rig.ends[0]->Read(out).value(), 10u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(rig.ends[0]->Read(out).error().code, Code::kPeerLost);
    EXPECT_THAT(rig.ends[0]->Peek().error().message, HasSubstr("rank 1 on here (test) is gone"));
  }
}

TEST(PipeLink, ADeadProcessIsALoss) {
  Rig rig;
  ASSERT_EQ(rig.ends[1]->Write(AsView("last words")).value(), 10u);
  rig.gone->store(true);
  Bytes out(100);
  EXPECT_EQ(rig.ends[0]->Read(out).value(), 10u);
  EXPECT_THAT(rig.ends[0]->Read(out).error().message, HasSubstr("its process has ended"));
  EXPECT_EQ(rig.ends[0]->Write(AsView("x")).error().code, Code::kPeerLost);
}

TEST(PipeLink, WhatIsOfferedIsFetched) {
  Rig rig;
  ASSERT_TRUE(rig.ends[0]->fetches());
  const std::string_view text = "in the sender's memory";
  Bytes out(text.size());
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t offer = rig.ends[0]->Offer(AsView(text));
    ASSERT_NE(offer, 0u);
    EXPECT_EQ(rig.ends[0]->Answer().value(), std::nullopt);
    EXPECT_TRUE(rig.ends[1]->Fetch(offer, out).value());
    EXPECT_EQ(AsText(out), text);
    EXPECT_EQ(rig.ends[0]->Answer().value(), true);
  }
}

TEST(PipeLink, WhoCannotFetchIsNotAskedAgain) {
  Rig rig;  // end 0 does not know which process end 1 is
  Bytes out(4);
  const std::uint64_t offer = rig.ends[1]->Offer(AsView("text"));
  EXPECT_FALSE(rig.ends[0]->Fetch(offer, out).value());
  EXPECT_EQ(rig.ends[1]->Answer().value(), false);
  EXPECT_EQ(rig.ends[1]->Offer(AsView("text")), 0u);
  // An address that is not the sender's is refused as well.
  rig.ends[0]->Offer(AsView("text"));
  EXPECT_FALSE(rig.ends[1]->Fetch(1, out).value());
  EXPECT_EQ(rig.ends[0]->Answer().value(), false);
}

TEST(PipeLink, WhatWasWithdrawnIsNotTaken) {
  Rig rig;
  Bytes out(4);
  const std::uint64_t offer = rig.ends[0]->Offer(AsView("text"));
  rig.ends[0]->Withdraw();
  EXPECT_EQ(rig.ends[1]->Fetch(offer, out).error().code, Code::kPeerLost);
}

TEST(PipeLink, AnOfferToTheDeadIsALoss) {
  Rig rig;
  rig.ends[0]->Offer(AsView("text"));
  rig.gone->store(true);
  EXPECT_EQ(rig.ends[0]->Answer().error().code, Code::kPeerLost);
}

TEST(PipeLink, NonsenseIsSticky) {
  Rig rig;
  rig.memory->Place(1).header->written_bytes.store(1u << 30);
  EXPECT_THAT(rig.ends[0]->Peek().error().message, HasSubstr("rank 1 on here"));
  rig.memory->Place(1).header->written_bytes.store(0);
  Bytes out(1);
  EXPECT_EQ(rig.ends[0]->Read(out).error().code, Code::kProtocol);
  EXPECT_EQ(rig.ends[0]->Write(out).error().code, Code::kProtocol);
  rig.memory->Place(1).header->read_bytes.store(1u << 30);
  EXPECT_EQ(rig.ends[1]->Write(Bytes(65)).error().code, Code::kProtocol);
}

}  // namespace
}  // namespace ringlet::transport
