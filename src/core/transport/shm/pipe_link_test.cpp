#include "transport/shm/pipe_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "os/fs/fd.hpp"

namespace ringlet::transport {
namespace {

using testing::HasSubstr;

struct PipeMemory {
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

constexpr std::size_t kLarge = 64 << 10;  // large enough for the kernel's copy

void Plain(View from, std::byte* to) {
  std::memcpy(to, from.data(), from.size());
}

// This process, as the other end knows it.
os::KnownProcess Here() {
  static const Secret sign = {std::byte{1}};
  return {.pid = ::getpid(), .sign_at = RemoteAddress::Of(&sign), .sign = sign};
}

struct PipeLinkRig {
  os::KnownProcess processes[2] = {{}, Here()};
  std::shared_ptr<SharedBuffers> registered[2] = {};
  std::mutex* offers[2] = {};
  RtsSizes sizes = {.reached_min = kRtsBytesMin, .kernel_min = kRtsBytesMin};
  std::shared_ptr<PipeMemory> memory = std::make_shared<PipeMemory>();
  std::shared_ptr<std::atomic<bool>> gone = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<PipeLink> ends[2] = {Make(0), Make(1)};

  std::unique_ptr<PipeLink> Make(std::size_t side) {
    const DoorbellButton bell(memory->words[1 - side], memory->event.get());
    return std::make_unique<PipeLink>(
        PipeLinkParts{.peer = static_cast<Rank>(1 - side),
                      .peer_name = "rank " + std::to_string(1 - side) + " on here (test)",
                      .kind = "test",
                      .out = PipeWriter(memory->Place(side), bell),
                      .in = PipeReader(memory->Place(1 - side), bell),
                      .memory = memory,
                      .gone = side == 0 ? gone : nullptr,
                      .process = processes[side],
                      .registered = registered[side],
                      .own_offer = offers[side],
                      .peer_offer = offers[1 - side],
                      .offers = sizes});
  }
};

TEST(PipeLink, CarriesDataInBothDirections) {
  PipeLinkRig rig;
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

TEST(PipeLink, ReportsTheLossAfterTheData) {
  PipeLinkRig rig;
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
  PipeLinkRig rig;
  ASSERT_EQ(rig.ends[1]->Write(AsView("last words")).value(), 10u);
  rig.gone->store(true);
  Bytes out(100);
  EXPECT_EQ(rig.ends[0]->Read(out).value(), 10u);
  EXPECT_THAT(rig.ends[0]->Read(out).error().message, HasSubstr("its process has ended"));
  EXPECT_EQ(rig.ends[0]->Write(AsView("x")).error().code, Code::kPeerLost);
}

TEST(PipeLink, AnOfferIsFetched) {
  PipeLinkRig rig;
  ASSERT_TRUE(rig.ends[0]->fetches());
  const std::string text = "in the sender's memory" + std::string(kLarge, '!');
  Bytes out(text.size());
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t offer = rig.ends[0]->SendRts(AsView(text));
    ASSERT_NE(offer, 0u);
    EXPECT_EQ(rig.ends[0]->TakeAck().value(), std::nullopt);
    EXPECT_TRUE(rig.ends[1]->Get(offer, 0, std::span(out).first(5), Plain).value());
    EXPECT_TRUE(rig.ends[1]->Get(offer, 5, std::span(out).subspan(5), Plain).value());
    EXPECT_EQ(AsText(out), text);
    EXPECT_EQ(rig.ends[0]->TakeAck().value(), std::nullopt);
    rig.ends[1]->SendAck(true);
    EXPECT_EQ(rig.ends[0]->TakeAck().value(), true);
  }
}

TEST(PipeLink, APeerThatCannotFetchGetsNoFurtherOffers) {
  PipeLinkRig rig;  // end 0 does not know the process of end 1
  const Bytes data(kLarge);
  Bytes out(kLarge);
  const std::uint64_t offer = rig.ends[1]->SendRts(data);
  EXPECT_FALSE(rig.ends[0]->Get(offer, 0, out, Plain).value());
  rig.ends[0]->SendAck(false);
  EXPECT_EQ(rig.ends[1]->TakeAck().value(), false);
  EXPECT_EQ(rig.ends[1]->SendRts(data), 0u);
  // An address that is not the sender's is refused, too.
  rig.ends[0]->SendRts(data);
  EXPECT_FALSE(rig.ends[1]->Get(1, 0, out, Plain).value());
  rig.ends[1]->SendAck(false);
  EXPECT_EQ(rig.ends[0]->TakeAck().value(), false);
}

TEST(PipeLink, SmallMessagesAreNotOffered) {
  PipeLinkRig rig;
  EXPECT_EQ(rig.ends[0]->SendRts(Bytes(kRtsBytesMin - 1)), 0u);
  EXPECT_NE(rig.ends[0]->SendRts(Bytes(kRtsBytesMin)), 0u);
}

TEST(PipeLink, AWithdrawnOfferIsNotFetched) {
  PipeLinkRig rig;
  const Bytes data(kLarge);
  Bytes out(kLarge);
  const std::uint64_t offer = rig.ends[0]->SendRts(data);
  rig.ends[0]->Withdraw();
  EXPECT_EQ(rig.ends[1]->Get(offer, 0, out, Plain).error().code, Code::kPeerLost);
}

TEST(PipeLink, AnOfferToADeadProcessIsALoss) {
  PipeLinkRig rig;
  const Bytes data(kLarge);
  rig.ends[0]->SendRts(data);
  rig.gone->store(true);
  EXPECT_EQ(rig.ends[0]->TakeAck().error().code, Code::kPeerLost);
}

// ---- the choice of a path by time
// -----------------------------------------------------------------

// Each look at the clock takes `step`. A streamed copy takes `streamed` more or less.
struct FakeClock {
  std::uint64_t now = 1 << 20, step = 0, streamed = 0;
  int streams = 0;
};
FakeClock fake_clock;

std::uint64_t FakeTicks() {
  return fake_clock.now += fake_clock.step;
}
void FakeStream(View from, std::byte* to) {
  ++fake_clock.streams;
  fake_clock.now += fake_clock.streamed;
  std::memcpy(to, from.data(), from.size());
}

// Two ends with a large ring.
class TimedPair {
 public:
  TimedPair() {
    for (std::size_t side = 0; side < 2; ++side)
      ends_[side] = std::make_unique<PipeLink>(
          PipeLinkParts{.peer = static_cast<Rank>(1 - side),
                        .peer_name = "the peer",
                        .kind = "test",
                        .out = PipeWriter(Place(side), DoorbellButton(words_[1 - side], -1)),
                        .in = PipeReader(Place(1 - side), DoorbellButton(words_[1 - side], -1)),
                        .memory = nullptr,
                        .process = Here(),
                        .offers = {.ticks = FakeTicks, .stream = FakeStream}});
  }

  enum Path { kCopied, kStreamed, kRead };
  /// Sends a message from one end to the other and checks it.
  /// \param copy_cost  what a look at the clock adds while the data is copied
  /// \param read_cost  what it adds while the receiver reads the data
  /// \param late       time from the beginning of the send until the receiver is ready, for copies
  Path Send(View data, std::uint64_t copy_cost, std::uint64_t read_cost, std::uint64_t late = 0) {
    const int streams = fake_clock.streams;
    Bytes out(data.size());
    fake_clock.step = 0;
    const std::uint64_t offer = ends_[0]->SendRts(data);
    if (offer == 0) fake_clock.now += late;
    if (behind_ > 0) Receive(0, std::exchange(behind_, 0));
    if (!std::exchange(waits_, false)) ends_[1]->BeginReceive();
    fake_clock.step = offer != 0 ? read_cost : copy_cost;
    if (offer != 0) {
      EXPECT_TRUE(ends_[1]->Get(offer, 0, out, Plain).value());
      ends_[1]->SendAck(true);
    } else {
      EXPECT_EQ(ends_[0]->Write(data).value(), data.size());
      EXPECT_EQ(ends_[1]->Read(out).value(), data.size());
    }
    ends_[1]->EndReceive();
    if (offer != 0) {
      EXPECT_EQ(ends_[0]->TakeAck().value(), true);
    }
    EXPECT_TRUE(std::ranges::equal(out, data));
    if (offer != 0) return kRead;
    return fake_clock.streams == streams ? kCopied : kStreamed;
  }

  /// As Send, by a sender that is `late`.
  Path SendToWaiting(View data, std::uint64_t copy_cost, std::uint64_t read_cost,
                     std::uint64_t late) {
    fake_clock.step = 0;
    ends_[1]->BeginReceive();
    fake_clock.now += late;
    waits_ = true;
    return Send(data, copy_cost, read_cost);
  }

  /// Sends a message and then another one, before the first one is received unless it is offered.
  Path SendBehind(View first, View data, std::uint64_t copy_cost, std::uint64_t read_cost) {
    if (const std::uint64_t offer = ends_[0]->SendRts(first); offer != 0) {
      ++offers_before_;
      Receive(offer, first.size());
    } else {
      EXPECT_EQ(ends_[0]->Write(first).value(), first.size());
      behind_ = first.size();
    }
    return Send(data, copy_cost, read_cost);
  }

  /// Returns the number of first messages of SendBehind that were offered.
  int offers_before() const { return offers_before_; }

  static constexpr std::size_t kRing = 64 << 10, kFootprint = PipeFootprint(kRing);

 private:
  void Receive(std::uint64_t offer, std::size_t bytes) {
    Bytes out(bytes);
    ends_[1]->BeginReceive();
    fake_clock.step = 1;
    if (offer == 0) {
      EXPECT_EQ(ends_[1]->Read(out).value(), bytes);
    } else {
      EXPECT_TRUE(ends_[1]->Get(offer, 0, out, Plain).value());
      ends_[1]->SendAck(true);
      EXPECT_EQ(ends_[0]->TakeAck().value(), true);
    }
    ends_[1]->EndReceive();
  }

  struct alignas(64) Line {
    std::byte bytes[64] = {};
  };
  PipePlace Place(std::size_t i) {
    return PipePlace::At(std::as_writable_bytes(std::span(lines_)).subspan(i * kFootprint), kRing);
  }

  std::vector<Line> lines_ = std::vector<Line>(2 * kFootprint / sizeof(Line));
  DoorbellWord words_[2];
  std::unique_ptr<PipeLink> ends_[2];
  int offers_before_ = 0;
  bool waits_ = false;      // the receiver, for the next message
  std::size_t behind_ = 0;  // bytes of a message that arrived and was not received
};

TEST(PipeLink, TakesTheFastestOfThreePathsAfterItHasTriedEach) {
  struct Case {
    TimedPair::Path fastest;
    std::uint64_t copy_cost, read_cost, streamed;
  };
  for (const Case& one :
       {Case{TimedPair::kCopied, 100, 1000, 1000}, Case{TimedPair::kRead, 1000, 100, 1000},
        Case{TimedPair::kStreamed, 10'000, 50'000, std::uint64_t{0} - 900}}) {
    fake_clock = {.streamed = one.streamed};
    TimedPair pair;
    Bytes data(20'000);
    std::array<int, 3> used{}, used_late{};
    for (std::size_t i = 0; i < 300; ++i) {
      data[i] = static_cast<std::byte>(i);
      const auto path = pair.Send(data, one.copy_cost, one.read_cost);
      ++(i < 200 ? used : used_late)[path];
    }
    for (const int times : used) EXPECT_GT(times, 1);
    EXPECT_GT(used_late[one.fastest], 90) << "path " << one.fastest;
  }
}

TEST(PipeLink, ATimeContainsTheAnswerToAnOffer) {
  fake_clock = {.streamed = 500};
  TimedPair pair;
  std::array<int, 3> used{};
  for (int i = 0; i < 300; ++i) ++used[pair.Send(Bytes(20'000), 100, 90)];
  EXPECT_GT(used[TimedPair::kCopied], 250)
      << "an offer takes 90 until the data are there and 90 more";
}

TEST(PipeLink, TheDelayOfALateSenderDoesNotHideTheFastestPath) {
  fake_clock = {.streamed = 500};
  TimedPair pair;
  std::array<int, 3> used{};
  for (std::uint64_t i = 0; i < 300; ++i)
    ++used[pair.SendToWaiting(Bytes(20'000), 1000, 100, 10'000 * i)];
  EXPECT_GT(used[TimedPair::kRead], 250);
}

// Sizes that share a race take times in proportion.
TEST(PipeLink, ATimeCountsByTheByte) {
  fake_clock = {.streamed = 500'000};
  TimedPair pair;
  std::array<int, 3> used{};
  for (int i = 0; i < 20; ++i) {
    const std::size_t bytes = i < 7 ? 32'000 : 17'000;
    ++used[pair.Send(Bytes(bytes), bytes * 3, bytes * 2)];
  }
  EXPECT_LE(used[TimedPair::kRead], 4) << "an offer takes 4 for each byte";
}

TEST(PipeLink, TheDelayOfALateReceiverIsNoReasonForAnotherPath) {
  fake_clock = {.streamed = 500};
  TimedPair pair;
  std::array<int, 3> used{};
  for (int i = 0; i < 300; ++i) ++used[pair.Send(Bytes(20'000), 100, 1000, 100'000)];
  EXPECT_GT(used[TimedPair::kCopied], 250);
}

// The kernel provides pages of the ring during the first copies, which makes them slow.
TEST(PipeLink, TriesOtherPathsOnceTheRingHasBeenWritten) {
  fake_clock = {};
  TimedPair pair;
  std::array<int, 3> used{};
  for (std::size_t bytes = 0; bytes < TimedPair::kRing; bytes += 8 << 10)
    ++used[pair.Send(Bytes(8 << 10), 100'000, 1)];
  EXPECT_EQ(used[TimedPair::kCopied], TimedPair::kRing / (8 << 10));
  for (int i = 0; i < 100; ++i) ++used[pair.Send(Bytes(8 << 10), 100, 1000)];
  EXPECT_GT(used[TimedPair::kCopied], 80);
  EXPECT_GT(used[TimedPair::kRead], 0);
}

// One message is timed at a time, whatever follows it before its receiver has it.
TEST(PipeLink, TimesAMessageAlthoughOthersFollowIt) {
  fake_clock = {};
  TimedPair pair;
  for (int i = 0; i < 5; ++i) pair.Send(Bytes(20'000), 100, 100);
  std::array<int, 3> used{};
  for (int i = 0; i < 100; ++i) {
    ++used[pair.SendBehind(Bytes(5'000), Bytes(20'000), 1000, 10)];
  }
  EXPECT_GT(used[TimedPair::kRead], 50);
  EXPECT_GT(pair.offers_before(), 0) << "the paths of the first message are tried, too";
}

TEST(PipeLink, MessagesBelowTheSizeOfAnOfferAreCopied) {
  fake_clock = {};
  TimedPair pair;
  const Bytes data(kStreamedCopyMin - 1, std::byte{5});
  for (int i = 0; i < 50; ++i) pair.Send(Bytes(20'000), 1000, 1000);
  const int streams = fake_clock.streams;
  for (int i = 0; i < 50; ++i) EXPECT_NE(pair.Send(data, 1000, 1000), TimedPair::kStreamed);
  EXPECT_EQ(fake_clock.streams, streams);
}

// ---- registered memory: both ends are other processes to each other, hidden by the kernel -------

struct RegisteredRig {
  std::shared_ptr<Arena> arena = Arena::Create({.ranks = 2}).value();
  std::shared_ptr<SharedBuffers> buffers[2] = {std::make_shared<SharedBuffers>(),
                                               std::make_shared<SharedBuffers>()};
  std::shared_ptr<const os::Shm> allocation =
      std::make_shared<os::Shm>(os::Shm::Create(2 * kLarge).value());
  SharedBuffers::Handle handle = 0;
  RtsSizes sizes;
  PipeLinkRig rig = {.processes = {{}, {}}, .registered = {buffers[0], buffers[1]}, .sizes = sizes};
  PipeLink &sender = *rig.ends[0], &receiver = *rig.ends[1];

  explicit RegisteredRig(const RtsSizes& of = {.reached_min = kRtsBytesMin}) : sizes(of) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) buffers[rank]->Publish(arena, rank);
    handle = buffers[0]->Register(allocation->bytes(), allocation).value();
    for (std::size_t i = 0; i < allocation->bytes().size(); ++i)
      allocation->bytes()[i] = static_cast<std::byte>(i * i >> 5);
  }
  View data() const { return allocation->bytes().subspan(100, kLarge); }
};

// Messages of registered memory have numbers as well, and are not timed.
TEST(PipeLink, RegisteredMemoryIsOfferedBetweenTimedMessages) {
  fake_clock = {.step = 1};
  RegisteredRig its({.reached_min = kRtsBytesMin, .ticks = FakeTicks, .stream = FakeStream});
  Bytes out(kRtsBytesMin);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(its.sender.Write(View(out).first(50)).value(), 50u);  // wraps the small ring
    EXPECT_EQ(its.receiver.Read(std::span(out).first(50)).value(), 50u);
    const bool is_registered = i % 2 == 1;
    const std::uint64_t offer =
        its.sender.SendRts(is_registered ? its.data().first(kRtsBytesMin) : View(out));
    EXPECT_TRUE(offer != 0 || !is_registered);
    its.receiver.BeginReceive();
    if (offer != 0) {
      EXPECT_EQ(its.receiver.Get(offer, 0, out, Plain).value(), is_registered);
      its.receiver.SendAck(is_registered);
      EXPECT_EQ(its.sender.TakeAck().value(), is_registered);
    }
    its.receiver.EndReceive();
  }
}

TEST(PipeLink, RanksThatShareCoresDoNotOfferUnregisteredMemory) {
  RegisteredRig its(RtsSizes::Sharing());
  EXPECT_EQ(its.sender.SendRts(Bytes(kLarge)), 0u);
  EXPECT_NE(its.sender.SendRts(its.data()), 0u);
}

TEST(PipeLink, TheReceiverReadsRegisteredMemoryDirectly) {
  RegisteredRig its;
  for (const std::size_t bytes : {kRtsBytesMin, kLarge}) {
    const View data = its.data().first(bytes);
    const std::uint64_t offer = its.sender.SendRts(data);
    ASSERT_NE(offer, 0u);
    Bytes out(bytes);
    EXPECT_TRUE(its.receiver.Get(offer, 0, std::span(out).first(1000), Plain).value());
    EXPECT_TRUE(its.receiver.Get(offer, 1000, std::span(out).subspan(1000), Plain).value());
    its.receiver.SendAck(true);
    EXPECT_EQ(its.sender.TakeAck().value(), true);
    EXPECT_TRUE(std::ranges::equal(out, data));
  }
}

TEST(PipeLink, DeregisteredMemoryIsNotRead) {
  RegisteredRig its;
  Bytes out(kLarge);
  const std::uint64_t early = its.sender.SendRts(its.data());
  ASSERT_TRUE(its.buffers[0]->Deregister(its.handle).ok());
  EXPECT_FALSE(its.receiver.Get(early, 0, out, Plain).value());
  its.receiver.SendAck(false);
  EXPECT_EQ(its.sender.TakeAck().value(), false);
  // This end does not know yet whether the peer can read through the kernel.
  const std::uint64_t address = its.sender.SendRts(its.data());
  EXPECT_EQ(address, reinterpret_cast<std::uintptr_t>(its.data().data()));
}

TEST(PipeLink, RegisteredMemoryIsLostIfItsSenderWithdraws) {
  RegisteredRig its;
  Bytes out(kLarge);
  const std::uint64_t offer = its.sender.SendRts(its.data());
  EXPECT_TRUE(its.receiver.Get(offer, 0, std::span(out).first(10), Plain).value());
  its.sender.Withdraw();
  EXPECT_EQ(its.receiver.Get(offer, 10, std::span(out).first(10), Plain).error().code,
            Code::kPeerLost);
}

TEST(PipeLink, ThePlaceOfAnOfferIsCheckedAgainstTheMemory) {
  RegisteredRig its;
  Bytes out(kLarge);
  const std::uint64_t offer = its.sender.SendRts(its.data());
  const std::uint64_t bit = std::uint64_t{1} << 63;
  const std::uint64_t next_place = std::uint64_t{1} << BufferPlace::kOffsetBits;
  for (const std::uint64_t lie : {bit, UINT64_MAX, offer + next_place, offer + 128 * next_place,
                                  offer + 2 * kLarge, offer + kLarge})
    EXPECT_FALSE(its.receiver.Get(lie, 0, out, Plain).value()) << lie;
  EXPECT_FALSE(its.receiver.Get(offer, 2 * kLarge, out, Plain).value()) << "beyond its end";
  EXPECT_TRUE(its.receiver.Get(offer, 0, out, Plain).value());
  PipeLinkRig without;
  EXPECT_FALSE(without.ends[1]->Get(offer, 0, out, Plain).value()) << "nothing is registered";
}

// ---- threads of one process ---------------------------------------------------------------------

// A copy that a withdrawal interrupts.
std::atomic<bool> copying, withdrawing, withdrawn, withdrawn_while_copying;

void CopySlowly(View from, std::byte* to) {
  copying = true;
  while (!withdrawing) std::this_thread::yield();
  for (int turn = 0; turn < 1000; ++turn) std::this_thread::yield();
  withdrawn_while_copying = withdrawn.load();
  std::memcpy(to, from.data(), from.size());
}

TEST(PipeLink, AWithdrawalWaitsForTheReadingThread) {
  copying = withdrawing = withdrawn = withdrawn_while_copying = false;
  std::mutex offers[2];
  PipeLinkRig rig{.offers = {&offers[0], &offers[1]}};
  Bytes data(kRtsBytesMin, std::byte{7}), out(kRtsBytesMin);
  const std::uint64_t offer = rig.ends[0]->SendRts(data);
  ASSERT_NE(offer, 0u) << "threads need no kernel";
  std::thread withdrawer([&] {
    while (!copying) std::this_thread::yield();
    withdrawing = true;
    rig.ends[0]->Withdraw();
    withdrawn = true;
    data.assign(data.size(), std::byte{8});
  });
  const auto fetched = rig.ends[1]->Get(offer, 0, out, CopySlowly);
  withdrawer.join();
  EXPECT_FALSE(withdrawn_while_copying);
  EXPECT_TRUE(fetched.ok() && *fetched);
  EXPECT_EQ(out, Bytes(kRtsBytesMin, std::byte{7}));
  EXPECT_EQ(rig.ends[1]->Get(offer, 0, out, Plain).error().code, Code::kPeerLost);
}

TEST(PipeLink, AnInvalidCountFailsTheLinkPermanently) {
  PipeLinkRig rig;
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
