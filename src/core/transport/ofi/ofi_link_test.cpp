#include "transport/ofi/ofi_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "transport/ofi/fabric_for_test.hpp"

namespace ringlet::transport::ofi {
namespace {

using testing::HasSubstr;

constexpr LinkOptions kSmall{.buffers = 4, .buffer_bytes = 8};

// Two links over a fabric in memory, before either has sent anything.
struct OfiRig {
  OfiRig() {
    fabrics[0]->JoinWith(*fabrics[1]);
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    for (std::size_t i = 0; i < 2; ++i) lines[i] = os::Fd(fds[i]);
    for (std::size_t i = 0; i < 2; ++i) {
      Secret secret{};
      secret[0] = static_cast<std::byte>(16 + 16 * i);
      addresss[i] = AddressOf(*fabrics[i], kSmall, secret);
    }
  }
  OfiLinkParts PartsOf(std::size_t i, View theirs) {
    return {.peer = static_cast<Rank>(1 - i),
            .peer_name = "rank " + std::to_string(1 - i) + " on there",
            .fabric = fabrics[i],
            .mine = addresss[i],
            .theirs = theirs,
            .line = std::move(lines[i]),
            .gone = gone[i],
            .greets = i == 0};
  }
  void Open() {
    for (std::size_t i = 0; i < 2; ++i) {
      auto made = OfiLink::Make(PartsOf(i, Encode(addresss[1 - i])));
      ASSERT_TRUE(made.ok()) << made.error().message;
      ends[i] = std::move(*made);
    }
    EXPECT_FALSE(ends[0]->Opened().value());  // it greets, and waits for an answer
    for (int turn = 0; turn < 4; ++turn)
      for (const auto& end : ends) EXPECT_TRUE(end->Opened().ok());
    for (const auto& end : ends) EXPECT_TRUE(end->Opened().value());
  }
  /// Closes end `i` and makes the waiter of the other end see it.
  void Leave(std::size_t i) {
    ends[i].reset();
    gone[1 - i]->store(true);
  }

  std::array<std::shared_ptr<FakeFabric>, 2> fabrics = {std::make_shared<FakeFabric>("zero"),
                                                        std::make_shared<FakeFabric>("one!")};
  std::array<EndpointAddress, 2> addresss;
  std::array<os::Fd, 2> lines;
  std::array<std::shared_ptr<std::atomic<bool>>, 2> gone = {
      std::make_shared<std::atomic<bool>>(false), std::make_shared<std::atomic<bool>>(false)};
  std::array<std::unique_ptr<OfiLink>, 2> ends;
};

Bytes OfiDigits(std::size_t count) {
  Bytes out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>('0' + i % 10);
  return out;
}

std::string ReadUpTo(OfiLink& link, std::size_t bytes) {
  Bytes out(bytes);
  const auto read = link.Read(out);
  EXPECT_TRUE(read.ok()) << read.error().message;
  return std::string(AsText(View(out).first(read.ok() ? *read : 0)));
}

TEST(OfiLink, CutsTheStreamIntoMessagesAndReadsOn) {
  OfiRig rig;
  rig.Open();
  EXPECT_EQ(rig.ends[0]->Write(OfiDigits(20)).value(), 20u);
  EXPECT_EQ(rig.fabrics[0]->sent, 1u + 3u);  // a greeting, and 8 + 8 + 4 bytes
  rig.fabrics[0]->Progress();
  EXPECT_EQ(AsText(rig.ends[1]->Peek().value()), "01234567");
  rig.ends[1]->Consume(3);
  EXPECT_EQ(ReadUpTo(*rig.ends[1], 10), "3456789012");
  EXPECT_EQ(ReadUpTo(*rig.ends[1], 100), "3456789");
  EXPECT_TRUE(rig.ends[1]->Peek()->empty());
}

TEST(OfiLink, AcceptsOnlyTheBytesThatThePeersFreeBuffersHold) {
  OfiRig rig;
  rig.Open();
  EXPECT_EQ(rig.ends[0]->Write(OfiDigits(100)).value(), 4 * 8u);
  rig.fabrics[0]->Progress();
  EXPECT_EQ(rig.ends[0]->Write(OfiDigits(100)).value(), 0u);
  EXPECT_EQ(ReadUpTo(*rig.ends[1], 8), "01234567");
  rig.fabrics[1]->Progress();
  // Credits are due for half of the buffers.
  EXPECT_EQ(rig.ends[0]->Write(OfiDigits(100)).value(), 0u);
  EXPECT_EQ(ReadUpTo(*rig.ends[1], 8), "89012345");
  rig.fabrics[1]->Progress();
  EXPECT_EQ(rig.ends[0]->Write(OfiDigits(100)).value(), 2 * 8u);
  rig.fabrics[0]->Progress();
  rig.fabrics[1]->Progress();
  EXPECT_TRUE(rig.fabrics[1]->arrived.empty()) << "a message found no buffer";
}

TEST(OfiLink, BytesThatTheFabricRefusesAreNotCountedAsWritten) {
  OfiRig rig;
  rig.Open();
  rig.fabrics[0]->busy = true;
  EXPECT_EQ(rig.ends[0]->Write(OfiDigits(12)).value(), 0u);
  rig.fabrics[0]->busy = false;
  EXPECT_EQ(rig.ends[0]->Write(OfiDigits(12)).value(), 12u);
  rig.fabrics[0]->Progress();
  EXPECT_EQ(ReadUpTo(*rig.ends[1], 100), "012345678901");
}

TEST(OfiLink, IsSettledWithoutPendingMessagesAndCredits) {
  OfiRig rig;
  rig.Open();
  EXPECT_TRUE(rig.ends[0]->Settled());
  rig.fabrics[0]->held = true;
  ASSERT_EQ(rig.ends[0]->Write(OfiDigits(8)).value(), 8u);
  EXPECT_FALSE(rig.ends[0]->Settled());
  rig.fabrics[0]->held = false;
  EXPECT_TRUE(rig.ends[0]->Settled());

  ASSERT_EQ(rig.ends[0]->Write(OfiDigits(24)).value(), 24u);
  rig.fabrics[0]->Progress();
  rig.fabrics[1]->busy = true;
  EXPECT_EQ(ReadUpTo(*rig.ends[1], 24).size(), 24u);
  EXPECT_FALSE(rig.ends[1]->Settled()) << "the peer waits for credits";
  rig.fabrics[1]->busy = false;
  EXPECT_FALSE(rig.ends[1]->Settled()) << "they are on their way";
  EXPECT_TRUE(rig.ends[1]->Settled());
}

TEST(OfiLink, ADepartedPeerIsLostAfterAllItsData) {
  OfiRig rig;
  rig.Open();
  ASSERT_EQ(rig.ends[0]->Write(OfiDigits(12)).value(), 12u);
  rig.fabrics[0]->Progress();
  // The last message arrives after the news that its sender has left.
  FakeFabric& there = *rig.fabrics[1];
  const FakeFabric::Message late = there.arrived.back();
  there.arrived.pop_back();
  rig.Leave(0);
  EXPECT_EQ(ReadUpTo(*rig.ends[1], 100), "01234567");
  EXPECT_TRUE(rig.ends[1]->Peek()->empty());
  EXPECT_EQ(rig.ends[1]->Write(OfiDigits(1)).error().code, Code::kPeerLost);
  there.arrived.push_back(late);
  EXPECT_EQ(ReadUpTo(*rig.ends[1], 100), "8901");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(rig.ends[1]->Peek().error().code, Code::kPeerLost);
    EXPECT_THAT(rig.ends[1]->Peek().error().message,
                HasSubstr("the link to rank 0 on there (ofi) broke"));
  }
  EXPECT_TRUE(rig.ends[1]->Settled());
}

TEST(OfiLink, ADeadPeerIsLostAfterItsReceivedData) {
  OfiRig rig;
  rig.Open();
  ASSERT_EQ(rig.ends[0]->Write(OfiDigits(8)).value(), 8u);
  rig.fabrics[0]->Progress();
  rig.gone[1]->store(true);  // and no message count
  EXPECT_EQ(ReadUpTo(*rig.ends[1], 100), "01234567");
  Bytes out(1);
  EXPECT_EQ(rig.ends[1]->Read(out).error().code, Code::kPeerLost);
}

TEST(OfiLink, AFailedSendIsALossAfterTheReceivedData) {
  OfiRig rig;
  rig.Open();
  ASSERT_EQ(rig.ends[1]->Write(OfiDigits(4)).value(), 4u);
  rig.fabrics[1]->Progress();
  rig.fabrics[0]->failure = "Connection reset by peer";
  ASSERT_EQ(rig.ends[0]->Write(OfiDigits(8)).value(), 8u);
  rig.fabrics[0]->Progress();
  EXPECT_EQ(ReadUpTo(*rig.ends[0], 100), "0123");
  EXPECT_THAT(rig.ends[0]->Write(OfiDigits(80)).error().message,
              HasSubstr("the link to rank 1 on there (ofi) broke: Connection reset by peer"));
  EXPECT_EQ(rig.ends[0]->Write(OfiDigits(1)).error().code, Code::kPeerLost);
  rig.fabrics[0]->failure.clear();
  EXPECT_THAT(rig.ends[0]->Write(OfiDigits(1)).error().message,
              HasSubstr("Connection reset by peer"))
      << "what was lost stays lost";
}

TEST(OfiLink, RefusesImpossibleCredits) {
  for (const Bytes& words : {Writer().U64(100).Take(), Writer().U32(0).Take()}) {
    OfiRig rig;
    rig.Open();
    rig.fabrics[0]->arrived.push_back({rig.addresss[0].tag + 1, words});
    EXPECT_EQ(rig.ends[0]->Peek().error().code, Code::kProtocol);
    EXPECT_THAT(rig.ends[0]->Peek().error().message,
                HasSubstr("rank 1 on there (ofi) sent credits"));
    EXPECT_EQ(rig.ends[0]->Write(OfiDigits(1)).error().code, Code::kProtocol);
  }
}

TEST(OfiLink, AMessageThatFitsNoBufferIsALoss) {
  OfiRig rig;
  rig.Open();
  rig.fabrics[0]->arrived.push_back({rig.addresss[0].tag, OfiDigits(9)});
  EXPECT_EQ(rig.ends[0]->Peek().error().code, Code::kPeerLost);
}

TEST(OfiLink, RefusesAnotherProvider) {
  OfiRig rig;
  rig.addresss[1].provider = "efa";
  const auto made = OfiLink::Make(rig.PartsOf(0, Encode(rig.addresss[1])));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Code::kUnsupported);
  EXPECT_THAT(made.error().message, HasSubstr("rank 1 on there"));
  EXPECT_THAT(made.error().message, HasSubstr("efa"));
  EXPECT_THAT(made.error().message, HasSubstr("RINGLET_OFI_PROVIDER"));
}

TEST(OfiLink, FailsWithoutAnAddressOrRoom) {
  OfiRig rig;
  EXPECT_EQ(OfiLink::Make(rig.PartsOf(0, AsView("endpoint address"))).error().code,
            Code::kProtocol);
  for (const std::size_t room : {0u, 5u, 7u}) {  // 4 for data and 4 for credits are needed
    OfiRig full;
    full.fabrics[0]->room = room;
    const auto made = OfiLink::Make(full.PartsOf(0, Encode(full.addresss[1])));
    ASSERT_FALSE(made.ok()) << room;
    EXPECT_EQ(made.error().code, Code::kUnsupported);
  }
}

TEST(OfiLink, FailsIfAnyOfItsMemoryIsMissing) {
  for (std::size_t memories = 0; memories < 4; ++memories) {
    OfiRig rig;
    rig.fabrics[0]->good_memories = memories;
    const auto made = OfiLink::Make(rig.PartsOf(0, Encode(rig.addresss[1])));
    ASSERT_FALSE(made.ok()) << memories;
    EXPECT_EQ(made.error().message, "no memory");
  }
}

TEST(OfiLink, SizesItsBuffersByItsOwnConfiguration) {
  OfiRig rig;
  rig.addresss[1].buffers = kBuffersMax;
  rig.addresss[1].buffer_bytes = kBufferBytesMax;
  auto made = OfiLink::Make(rig.PartsOf(0, Encode(rig.addresss[1])));
  ASSERT_TRUE(made.ok());
  rig.fabrics[0]->held = true;
  EXPECT_EQ((*made)->Write(OfiDigits(1000)).value(), 4 * 8u);
}

}  // namespace
}  // namespace ringlet::transport::ofi
