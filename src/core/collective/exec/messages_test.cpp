#include "collective/exec/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/value/prng.hpp"
#include "collective/exec/fake_link_for_test.hpp"

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

Fingerprint About(std::size_t count, Rank receiver) {
  return {.operation = CallKind::kSendReceive,
          .type = DataType::kUint8,
          .count = count,
          .root = receiver};
}
Message SendMessageTo(Rank peer, View data) {
  return {.peer = peer, .sends = true, .fingerprint = About(data.size(), peer), .from = data};
}
Message ReceiveFrom(Rank peer, Rank self, std::span<std::byte> data) {
  return {.peer = peer, .fingerprint = About(data.size(), self), .to = data};
}

Bytes Pattern(std::size_t bytes, std::uint8_t first) {
  Bytes pattern(bytes);
  for (std::size_t i = 0; i < bytes; ++i) pattern[i] = static_cast<std::byte>(first + i * 7);
  return pattern;
}

/// Advances both ranks in turn until both are done. Ends with the first error.
Status RunBoth(Messages& a, Messages& b) {
  for (int turn = 0; turn < 1'000'000; ++turn) {
    RINGLET_TRY_ASSIGN(const bool a_done, a.Advance());
    RINGLET_TRY_ASSIGN(const bool b_done, b.Advance());
    if (a_done && b_done) return Ok();
  }
  return Error{Code::kTimeout, a.WaitingFor() + "; " + b.WaitingFor()};
}

TEST(Messages, CrossEachOtherForEveryLinkCapacity) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    FakeNetwork network(1 + seed * 37 % 300, seed);
    const Bytes first = Pattern(5000, 1), second = Pattern(0, 2), third = Pattern(33, 3);
    Bytes got_first(5000), got_second, got_third(33);
    // Rank 0 sends two messages and then receives. Rank 1 does the reverse.
    Messages zero({SendMessageTo(Rank{1}, first), SendMessageTo(Rank{1}, second),
                   ReceiveFrom(Rank{1}, Rank{0}, got_third)},
                  Rank{0}, network.LinksOf(Rank{0}));
    Messages one({SendMessageTo(Rank{0}, third), ReceiveFrom(Rank{0}, Rank{1}, got_first),
                  ReceiveFrom(Rank{0}, Rank{1}, got_second)},
                 Rank{1}, network.LinksOf(Rank{1}));
    const Status status = RunBoth(zero, one);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.error().message;
    EXPECT_EQ(got_first, first);
    EXPECT_EQ(got_third, third);
    EXPECT_EQ(network.held_bytes(), 0u);
  }
}

/// Advances until the messages are done.
bool IsDone(Messages&& messages) {
  for (int turn = 0; turn < 100'000; ++turn) {
    const Result<bool> done = messages.Advance();
    if (!done.ok()) return false;
    if (*done) return true;
  }
  return false;
}

// Each end uses Messages, or it reads or writes the message whole. All combinations work.
TEST(Messages, UnderstandMessagesThatAreWrittenOrReadWhole) {
  for (const auto offers : {FakeLink::Offers::kUnknown, FakeLink::Offers::kTaken}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, transport::kRtsBytesMin - 1}) {
      for (const bool sends_whole : {false, true}) {
        for (const bool receives_whole : {false, true}) {
          FakeNetwork network(20'000, 3, offers);
          const Bytes data = Pattern(bytes, 4);
          Bytes got(bytes);
          const Header header = EncodeHeader(About(bytes, Rank{1}), Rank{0});
          transport::Link& in = *network.Link(Rank{1}, Rank{0});
          EXPECT_EQ(in.ReadWhole(header, got), transport::WholeRead::kNothing);
          EXPECT_TRUE(sends_whole ? network.Link(Rank{0}, Rank{1})->WriteWhole(header, data)
                                  : IsDone(Messages({SendMessageTo(Rank{1}, data)}, Rank{0},
                                                    network.LinksOf(Rank{0}))));
          EXPECT_TRUE(receives_whole ? in.ReadWhole(header, got) == transport::WholeRead::kDone
                                     : IsDone(Messages({ReceiveFrom(Rank{0}, Rank{1}, got)},
                                                       Rank{1}, network.LinksOf(Rank{1}))))
              << bytes << " bytes, whole: " << sends_whole << receives_whole;
          EXPECT_EQ(got, data);
          EXPECT_EQ(network.held_bytes(), 0u);
        }
      }
    }
  }
}

TEST(Messages, LargerThanTheCacheArriveComplete) {
  constexpr std::size_t kBytes = (6 << 20) + 13;
  FakeNetwork network(100'000, 7);
  const Bytes large = Pattern(kBytes, 1), small = Pattern(5, 2);
  Bytes got_large(kBytes + 1), got_small(5);
  const std::span<std::byte> odd = std::span(got_large).subspan(1);  // not aligned to cache lines
  Messages zero({SendMessageTo(Rank{1}, large), SendMessageTo(Rank{1}, small)}, Rank{0},
                network.LinksOf(Rank{0}));
  Messages one({ReceiveFrom(Rank{0}, Rank{1}, odd), ReceiveFrom(Rank{0}, Rank{1}, got_small)},
               Rank{1}, network.LinksOf(Rank{1}));
  const Status status = RunBoth(zero, one);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(std::equal(odd.begin(), odd.end(), large.begin(), large.end()));
  EXPECT_EQ(got_small, small);
  EXPECT_EQ(network.held_bytes(), 0u);
}

constexpr std::size_t kFetched = (2 << 20) + 5;  // fetched in pieces, if offers are taken

TEST(Messages, AreFetchedOrWrittenBesideOtherMessages) {
  for (const auto offers : {FakeLink::Offers::kTaken, FakeLink::Offers::kRefused}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      FakeNetwork network(1 + seed * 37 % 300, seed, offers);
      const Bytes small = Pattern(77, 1), first = Pattern(kFetched, 2), last = Pattern(kFetched, 3);
      Bytes got_small(77), got_first(kFetched), got_last(kFetched), got_back(kFetched);
      Messages zero({SendMessageTo(Rank{1}, first), SendMessageTo(Rank{1}, small),
                     SendMessageTo(Rank{1}, last), ReceiveFrom(Rank{1}, Rank{0}, got_back)},
                    Rank{0}, network.LinksOf(Rank{0}));
      Messages one(
          {SendMessageTo(Rank{0}, last), ReceiveFrom(Rank{0}, Rank{1}, got_first),
           ReceiveFrom(Rank{0}, Rank{1}, got_small), ReceiveFrom(Rank{0}, Rank{1}, got_last)},
          Rank{1}, network.LinksOf(Rank{1}));
      const Status status = RunBoth(zero, one);
      ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.error().message;
      EXPECT_EQ(got_small, small);
      EXPECT_EQ(got_first, first);
      EXPECT_EQ(got_last, last);
      EXPECT_EQ(got_back, last);
      EXPECT_EQ(network.held_bytes(), 0u);
      const FakePipe& pipe = network.Pipe(Rank{0}, Rank{1});
      EXPECT_EQ(pipe.announced, 2) << "the small message is not announced";
      EXPECT_EQ(pipe.ended, 2);
    }
  }
}

TEST(Messages, AnnounceDataOnceWhileTheLinkIsFull) {
  constexpr std::size_t kBytes = transport::kRtsBytesMin;
  const Bytes data = Pattern(kBytes, 1);
  Bytes first(kBytes), second(kBytes);
  FakeNetwork network(kHeaderBytes + 8 + kBytes, 1, FakeLink::Offers::kTaken);
  network.Link(Rank{0}, Rank{1})->refuse();
  Messages zero({SendMessageTo(Rank{1}, data), SendMessageTo(Rank{1}, data)}, Rank{0},
                network.LinksOf(Rank{0}));
  Messages one({ReceiveFrom(Rank{0}, Rank{1}, first), ReceiveFrom(Rank{0}, Rank{1}, second)},
               Rank{1}, network.LinksOf(Rank{1}));
  for (int turn = 0; turn < 100; ++turn) ASSERT_FALSE(zero.Advance().value());
  const FakePipe& pipe = network.Pipe(Rank{0}, Rank{1});
  EXPECT_EQ(pipe.held(), kHeaderBytes + 8 + kBytes);
  EXPECT_EQ(pipe.announced, 2);
  ASSERT_TRUE(RunBoth(zero, one).ok());
  EXPECT_EQ(second, data);
}

TEST(Messages, AreNotFetchedAfterTheirWithdrawal) {
  FakeNetwork network(4096, 1, FakeLink::Offers::kTaken);
  const Bytes data = Pattern(kFetched, 1);
  Bytes got(kFetched);
  Messages zero({SendMessageTo(Rank{1}, data)}, Rank{0}, network.LinksOf(Rank{0}));
  Messages one({ReceiveFrom(Rank{0}, Rank{1}, got)}, Rank{1}, network.LinksOf(Rank{1}));
  while (zero.Advance().value() || zero.moved()) {
  }
  EXPECT_EQ(network.Pipe(Rank{0}, Rank{1}).offered.size(), kFetched);
  zero.Withdraw();
  Result<bool> done = false;
  for (int turn = 0; done.ok() && turn < 100; ++turn) done = one.Advance();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, Code::kPeerLost);
}

TEST(Messages, CanStartAgain) {
  FakeNetwork network(300, 3);
  const Bytes first = Pattern(500, 1), second = Pattern(40, 2);
  Bytes got_first(500), got_second(40);
  Messages zero(Rank{0}), one(Rank{1});
  const auto pass = [&](const Bytes& data, Bytes& got) {
    zero.Start(std::vector{SendMessageTo(Rank{1}, data)}, network.LinksOf(Rank{0}));
    one.Start(std::vector{ReceiveFrom(Rank{0}, Rank{1}, got)}, network.LinksOf(Rank{1}));
    return RunBoth(zero, one);
  };
  ASSERT_TRUE(pass(first, got_first).ok());
  ASSERT_TRUE(pass(second, got_second).ok());
  EXPECT_EQ(got_first, first);
  EXPECT_EQ(got_second, second);
  Bytes wrong(39);
  EXPECT_FALSE(pass(second, wrong).ok());
}

// Starts again with the same peers in the same order, then with others.
TEST(Messages, CanStartAgainWithTheSameAndOtherPeers) {
  FakeNetwork network(300, 5);
  const Bytes data = Pattern(70, 1), other = Pattern(90, 2);
  Messages zero(Rank{0}), one(Rank{1});
  for (int turn = 0; turn < 3; ++turn) {
    Bytes got(70), back(90), twice(70);
    zero.Start(std::vector{SendMessageTo(Rank{1}, data), ReceiveFrom(Rank{1}, Rank{0}, back)},
               network.LinksOf(Rank{0}));
    one.Start(std::vector{ReceiveFrom(Rank{0}, Rank{1}, got), SendMessageTo(Rank{0}, other)},
              network.LinksOf(Rank{1}));
    ASSERT_TRUE(RunBoth(zero, one).ok());
    EXPECT_EQ(got, data);
    EXPECT_EQ(back, other);
    std::ranges::fill(got, std::byte{0});
    zero.Start(std::vector{SendMessageTo(Rank{1}, data), SendMessageTo(Rank{1}, data)},
               network.LinksOf(Rank{0}));
    one.Start(std::vector{ReceiveFrom(Rank{0}, Rank{1}, got), ReceiveFrom(Rank{0}, Rank{1}, twice)},
              network.LinksOf(Rank{1}));
    ASSERT_TRUE(RunBoth(zero, one).ok());
    EXPECT_EQ(got, data);
    EXPECT_EQ(twice, data);
  }
}

TEST(Messages, MatchMessagesToTheirOwnRankInOrder) {
  const Bytes a = Pattern(3, 1), b = Pattern(4, 9);
  Bytes got_a(3), got_b(4);
  const LinkTo none = [](Rank) { return nullptr; };
  Messages both({ReceiveFrom(Rank{0}, Rank{0}, got_a), SendMessageTo(Rank{0}, a),
                 SendMessageTo(Rank{0}, b), ReceiveFrom(Rank{0}, Rank{0}, got_b)},
                Rank{0}, none);
  ASSERT_TRUE(both.Advance().value());
  EXPECT_EQ(got_a, a);
  EXPECT_EQ(got_b, b);

  Messages lonely({SendMessageTo(Rank{0}, a)}, Rank{0}, none);
  EXPECT_THAT(lonely.Advance().error().message, HasSubstr("does not receive it in the same group"));
  Messages unequal({SendMessageTo(Rank{0}, a), ReceiveFrom(Rank{0}, Rank{0}, got_b)}, Rank{0},
                   none);
  EXPECT_THAT(unequal.Advance().error().message, HasSubstr("a message of 4 uint8 to rank 0"));
}

TEST(Messages, ReportAnotherCountAtTheReceiver) {
  FakeNetwork network(4096, 1);
  const Bytes data = Pattern(8, 1);
  Bytes got(9);
  Messages zero({SendMessageTo(Rank{1}, data)}, Rank{0}, network.LinksOf(Rank{0}));
  Messages one({ReceiveFrom(Rank{0}, Rank{1}, got)}, Rank{1}, network.LinksOf(Rank{1}));
  const Status status = RunBoth(zero, one);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kProtocol);
  EXPECT_THAT(status.error().message, HasSubstr("rank 0 called a message of 8 uint8 to rank 1"));
  EXPECT_FALSE(one.Advance().ok()) << "it stays failed";
}

/// Sends one message from rank 0 while rank 1 expects another. Returns the error of rank 1, after
/// checking that it wrote none of the data.
std::string ComplaintAbout(const Fingerprint& sent, const Fingerprint& awaited, std::uint64_t seed,
                           std::size_t capacity, FakeLink::Offers offers) {
  FakeNetwork network(capacity, seed, offers);
  const Bytes data(sent.count * SizeOf(sent.type), std::byte{1});
  Bytes got(awaited.count * SizeOf(awaited.type), std::byte{0});
  Messages zero({Message{.peer = Rank{1}, .sends = true, .fingerprint = sent, .from = data}},
                Rank{0}, network.LinksOf(Rank{0}));
  Messages one({Message{.peer = Rank{0}, .fingerprint = awaited, .to = got}}, Rank{1},
               network.LinksOf(Rank{1}));
  const Status status = RunBoth(zero, one);
  EXPECT_EQ(std::ranges::count(got, std::byte{0}), std::ssize(got));
  if (status.ok()) return "nothing";
  EXPECT_EQ(status.error().code, Code::kProtocol);
  EXPECT_EQ(one.Awaits(), Rank{0});
  return status.error().message;
}

// Tries small and large messages that arrive with their data or in pieces, fetched or not.
TEST(Messages, RefuseUnexpectedMessages) {
  for (const std::size_t count : {std::size_t{8}, std::size_t{3000}, kFetched}) {
    const Fingerprint awaited = About(count, Rank{1});
    Fingerprint shorter = awaited, signed_ones = awaited;
    shorter.count -= 1;
    signed_ones.type = DataType::kInt8;
    for (const Fingerprint& sent : {shorter, signed_ones}) {
      for (const auto offers : {FakeLink::Offers::kUnknown, FakeLink::Offers::kTaken}) {
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
          const std::size_t capacity = seed % 2 == 0 ? 4096 : 20;
          EXPECT_THAT(ComplaintAbout(sent, awaited, seed, capacity, offers),
                      HasSubstr("rank 0 called " + ToText(sent)))
              << "seed " << seed << ", " << ToText(awaited);
        }
      }
    }
  }
}

TEST(Messages, ReportWhetherTheyMoved) {
  FakeNetwork network(4096, 1);
  const Bytes data = Pattern(9, 1);
  Bytes got(9);
  Messages zero({SendMessageTo(Rank{1}, data)}, Rank{0}, network.LinksOf(Rank{0}));
  Messages one({ReceiveFrom(Rank{0}, Rank{1}, got)}, Rank{1}, network.LinksOf(Rank{1}));
  ASSERT_FALSE(one.Advance().value());
  EXPECT_FALSE(one.moved());
  ASSERT_TRUE(zero.Advance().ok());
  EXPECT_TRUE(zero.moved());
  ASSERT_TRUE(one.Advance().ok());
  EXPECT_TRUE(one.moved());
}

TEST(Messages, WaitForTheSenderBeforeTheReceiver) {
  FakeNetwork network(1, 1);
  const Bytes data = Pattern(9, 1);
  Bytes got(9);
  const Message gives = SendMessageTo(Rank{2}, data), takes = ReceiveFrom(Rank{1}, Rank{0}, got);
  for (const std::vector<Message>& messages :
       {std::vector{gives, takes}, std::vector{takes, gives}}) {
    Messages both(messages, Rank{0}, network.LinksOf(Rank{0}));
    ASSERT_FALSE(both.Advance().value());
    EXPECT_EQ(both.Awaits(), Rank{1});
  }
  Messages only({gives}, Rank{0}, network.LinksOf(Rank{0}));
  ASSERT_FALSE(only.Advance().value());
  EXPECT_EQ(only.Awaits(), Rank{2});
}

TEST(Messages, EndWhenTheOutgoingDataAreSettled) {
  FakeNetwork network(4096, 1);
  const Bytes data = Pattern(9, 1);
  network.Pipe(Rank{0}, Rank{1}).settled = false;
  Messages zero({SendMessageTo(Rank{1}, data)}, Rank{0}, network.LinksOf(Rank{0}));
  for (int i = 0; i < 20; ++i) ASSERT_FALSE(zero.Advance().value());
  EXPECT_EQ(zero.WaitingFor(), "rank 0 waits for its outgoing data to drain");
  network.Pipe(Rank{0}, Rank{1}).settled = true;
  EXPECT_TRUE(zero.Advance().value());
}

TEST(Messages, NameThePeerThatTheyWaitFor) {
  FakeNetwork network(4096, 1);
  Bytes got(9);
  Messages one({ReceiveFrom(Rank{0}, Rank{1}, got)}, Rank{1}, network.LinksOf(Rank{1}));
  ASSERT_FALSE(one.Advance().value());
  EXPECT_FALSE(one.moved());
  EXPECT_EQ(one.Awaits(), Rank{0});
  EXPECT_THAT(one.WaitingFor(), HasSubstr("rank 1 waits for rank 0 to send a message of 9 uint8"));
}

}  // namespace
}  // namespace ringlet::collective
