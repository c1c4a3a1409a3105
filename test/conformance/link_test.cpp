// The promises of every Link, of every kind. One suite runs over each of AllLinkKinds.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/value/prng.hpp"
#include "link_kinds.hpp"
#include "os/net/sockaddr.hpp"

namespace ringlet::transport {
namespace {

using testing::HasSubstr;

// Returns byte number `at` of a stream known to both ends.
std::byte StreamByte(std::uint64_t seed, std::size_t at) {
  return static_cast<std::byte>((seed + at) * 2654435761u >> 16);
}

bool IsStream(std::uint64_t seed, std::size_t at, View bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != StreamByte(seed, at + i)) return false;
  return true;
}

// Sends `bytes` of a stream in pieces of any size, and stays until they travel by themselves.
struct Sender {
  Link& link;
  std::uint64_t seed;
  std::size_t bytes;
  std::size_t done = 0;
  Prng prng{seed};
  Bytes piece = {};

  bool Finished() const { return done == bytes && link.Settled(); }
  bool Step() {
    piece.resize(
        std::min<std::size_t>(bytes - done, 1 + prng.Below(prng.Chance(0.5) ? 64 : 100'000)));
    for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = StreamByte(seed, done + i);
    const std::size_t head = prng.Below(piece.size() + 1);
    const auto written = prng.Chance(0.5)
                             ? link.Write(piece)
                             : link.WriteBoth(View(piece).first(head), View(piece).subspan(head));
    if (!written.ok() || *written > piece.size()) return false;
    done += *written;
    return *written > 0;
  }
};

// Receives such a stream, with Read and Peek in turn, and checks each byte.
struct Receiver {
  Link& link;
  std::uint64_t seed;
  std::size_t bytes;
  std::size_t done = 0;
  bool right = true;
  Prng prng{seed + 1};
  Bytes out = {};

  bool Finished() const { return done == bytes || !right; }
  bool Step() { return prng.Chance(0.5) ? StepRead() : StepPeek(); }
  bool StepRead() {
    out.resize(std::min(bytes - done, 1 + prng.Below(prng.Chance(0.5) ? 64 : 100'000)));
    const auto read = link.Read(out);
    if (!read.ok()) return right = false;
    right = right && IsStream(seed, done, View(out).first(*read));
    done += *read;
    return *read > 0;
  }
  bool StepPeek() {
    const auto view = link.Peek();
    if (!view.ok()) return right = false;
    const View front = view->first(std::min(view->size(), bytes - done));
    right = right && IsStream(seed, done, front);
    const std::size_t taken = front.empty() ? 0 : 1 + prng.Below(front.size());
    link.Consume(taken);
    done += taken;
    return taken > 0;
  }
};

// Steps until finished. Sleeps while there is no work.
template <typename... Sides>
bool Drive(Waiter& waiter, Sides&... sides) {
  return WaitUntil(waiter, [&] {
    const auto step = [](auto& side) -> int { return !side.Finished() && side.Step(); };
    while ((step(sides) + ...) > 0) {
    }
    return (sides.Finished() && ...);
  });
}

class LinkTest : public testing::TestWithParam<LinkKind> {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNot(GetParam()); !why.empty()) GTEST_SKIP() << why;
    auto ranks = TwoRanks(GetParam());
    auto all = ConnectAll(ranks, tools_, GetParam().Options());
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(all[i].ok()) << all[i].error().message;
      links_[i] = std::move(all[i]).value();
    }
  }
  Link& End(std::uint32_t rank) { return *links_[rank]->Find(static_cast<Rank>(1 - rank)); }
  Waiter& WaiterOf(std::uint32_t rank) { return links_[rank]->waiter(); }
  std::size_t StreamBytes() const { return GetParam().Tiny() ? 100'000 : 8'000'000; }

  DriverThread service_;
  InprocExchange exchange_;
  ConnectTools tools_{.driver = service_.driver(), .inproc = exchange_};
  std::unique_ptr<Links> links_[2];
};

std::string NameOf(const testing::TestParamInfo<LinkKind>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Kinds, LinkTest, testing::ValuesIn(AllLinkKinds()), NameOf);

TEST_P(LinkTest, ReportsItsPeerAndKind) {
  EXPECT_EQ(End(0).peer(), Rank{1});
  EXPECT_EQ(End(1).peer(), Rank{0});
  EXPECT_THAT(GetParam().name, HasSubstr(std::string(End(0).kind())));
  EXPECT_EQ(links_[0]->Find(Rank{0}), nullptr);
}

TEST_P(LinkTest, AnEmptyLinkReadsNothing) {
  Bytes out(10);
  EXPECT_EQ(End(0).Read(out).value(), 0u);
  EXPECT_TRUE(End(0).Peek()->empty());
  EXPECT_EQ(End(0).Write({}).value(), 0u);
  EXPECT_EQ(End(0).Read({}).value(), 0u);
}

TEST_P(LinkTest, BytesArriveInOrder) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Sender sender{End(0), seed, StreamBytes()};
    Receiver receiver{End(1), seed, StreamBytes()};
    std::thread other([&] { EXPECT_TRUE(Drive(WaiterOf(0), sender)); });
    EXPECT_TRUE(Drive(WaiterOf(1), receiver));
    other.join();
    EXPECT_TRUE(receiver.right);
  }
}

TEST_P(LinkTest, BothDirectionsTransferAtOnce) {
  const auto play = [&](std::uint32_t rank) {
    Sender sender{End(rank), 10 + rank, StreamBytes()};
    Receiver receiver{End(rank), 10 + (1 - rank), StreamBytes()};
    EXPECT_TRUE(Drive(WaiterOf(rank), sender, receiver));
    EXPECT_TRUE(receiver.right);
  };
  std::thread other(play, 1u);
  play(0u);
  other.join();
}

TEST_P(LinkTest, PingPongLosesNoWakeup) {
  constexpr int kRounds = 2000;
  const auto play = [&](std::uint32_t rank) {
    Bytes ball(1);
    for (int round = 0; round < kRounds; ++round) {
      if (rank == 0) {
        ASSERT_TRUE(WaitUntil(WaiterOf(0), [&] { return End(0).Write(ball).value() == 1; }));
      }
      ASSERT_TRUE(WaitUntil(WaiterOf(rank), [&] { return End(rank).Read(ball).value() == 1; }))
          << "rank " << rank << " missed round " << round;
      if (rank == 1) {
        ASSERT_TRUE(WaitUntil(WaiterOf(1), [&] { return End(1).Write(ball).value() == 1; }));
      }
    }
  };
  std::thread other(play, 1u);
  play(0u);
  other.join();
}

TEST_P(LinkTest, AFullLinkAcceptsNothingAndRecovers) {
  Sender sender{End(0), 5, std::size_t{1} << 30};
  // The kernel moves bytes from one buffer of TCP to the next at any time, so room may appear
  // again after each step. The link counts as full when the waiter has reported no room for 20 ms.
  const auto fill = [&] {
    while (sender.Step()) {
    }
  };
  fill();
  std::size_t before = 0;
  do {
    before = sender.done;
    WaiterOf(0).Wait(WaiterOf(0).Prepare(), std::chrono::milliseconds(20));
    fill();
  } while (sender.done != before);
  const std::size_t filled = sender.done;
  ASSERT_GT(filled, 0u);
  ASSERT_LT(filled, sender.bytes) << "the link accepted everything";

  Receiver receiver{End(1), 5, filled};
  std::thread reading([&] { EXPECT_TRUE(Drive(WaiterOf(1), receiver)); });
  sender.bytes = filled + 1;  // rank 0 sleeps until there is room
  EXPECT_TRUE(Drive(WaiterOf(0), sender));
  reading.join();
  EXPECT_TRUE(receiver.right);
  EXPECT_TRUE(WaitUntil(WaiterOf(1), [&] { return !End(1).Peek()->empty(); }));
}

TEST_P(LinkTest, ReportsADepartedPeerAfterItsData) {
  const std::size_t bytes = 60;  // fits the smallest pipe
  Sender sender{End(0), 9, bytes};
  ASSERT_TRUE(Drive(WaiterOf(0), sender));
  links_[0].reset();
  Receiver receiver{End(1), 9, bytes};
  EXPECT_TRUE(Drive(WaiterOf(1), receiver));
  EXPECT_TRUE(receiver.right);
  Bytes out(10);
  EXPECT_TRUE(WaitUntil(WaiterOf(1), [&] { return !End(1).Read(out).ok(); }));
  EXPECT_TRUE(WaitUntil(WaiterOf(1), [&] { return !End(1).Write(out).ok(); }));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(End(1).Read(out).error().code, Code::kPeerLost);
    EXPECT_EQ(End(1).Peek().error().code, Code::kPeerLost);
    EXPECT_EQ(End(1).Write(out).error().code, Code::kPeerLost);
    EXPECT_THAT(End(1).Read(out).error().message, HasSubstr("rank 0 on testhost"));
    EXPECT_THAT(End(1).Write(out).error().message, HasSubstr("rank 0 on testhost"));
  }
}

TEST_P(LinkTest, DepartureOfThePeerWakesAReader) {
  std::thread leaving([&] { links_[0].reset(); });
  Bytes out(1);
  EXPECT_TRUE(WaitUntil(WaiterOf(1), [&] { return !End(1).Read(out).ok(); }));
  leaving.join();
}

TEST_P(LinkTest, DepartureOfThePeerWakesAWriter) {
  Sender sender{End(1), 5, std::size_t{1} << 30};
  while (sender.Step()) {
  }
  std::thread leaving([&] { links_[0].reset(); });
  EXPECT_TRUE(WaitUntil(WaiterOf(1), [&] { return !End(1).Write(Bytes(100'000)).ok(); }));
  leaving.join();
}

TEST_P(LinkTest, WakeFromAnotherThreadEndsAWait) {
  std::atomic<bool> flag{false};
  std::thread other([&] {
    flag.store(true);
    WaiterOf(0).Wake();
  });
  EXPECT_TRUE(WaitUntil(WaiterOf(0), [&] { return flag.load(); }));
  other.join();
}

TEST_P(LinkTest, ATimeoutEndsAWait) {
  WaiterOf(0).Wait(WaiterOf(0).Prepare(), std::chrono::milliseconds(1));
  WaiterOf(0).Wait(WaiterOf(0).Prepare(), std::chrono::nanoseconds(0));
}

// One thread serves both ranks, asleep in poll on their descriptors.
TEST_P(LinkTest, AThreadServesTwoRanksByDescriptor) {
  Sender sender{End(0), 3, StreamBytes() / 4};
  Receiver receiver{End(1), 3, StreamBytes() / 4};
  Sender back{End(1), 4, StreamBytes() / 4};
  Receiver front{End(0), 4, StreamBytes() / 4};
  const auto step = [&] {
    bool moved = false;
    const auto try_step = [&](auto& side) { moved |= !side.Finished() && side.Step(); };
    try_step(sender), try_step(receiver), try_step(back), try_step(front);
    return moved;
  };
  while (!receiver.Finished() || !front.Finished()) {
    WaiterOf(0).PrepareDescriptor();
    WaiterOf(1).PrepareDescriptor();
    const bool moved = step();
    std::array<pollfd, 2> fds = {pollfd{WaiterOf(0).descriptor(), POLLIN, 0},
                                 pollfd{WaiterOf(1).descriptor(), POLLIN, 0}};
    const int timeout_ms = moved ? 0 : 30'000;
    ASSERT_GE(::poll(fds.data(), fds.size(), timeout_ms), moved ? 0 : 1) << "no rank was woken";
    WaiterOf(0).Acknowledge();
    WaiterOf(1).Acknowledge();
  }
  EXPECT_TRUE(receiver.right && front.right);
}

// ---- making the link --------------------------------------------------------------------------

class ConnectTest : public testing::TestWithParam<LinkKind> {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNot(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  DriverThread service_;
  InprocExchange exchange_;
  std::stop_source abort_;
  ConnectTools tools_{
      .driver = service_.driver(), .inproc = exchange_, .abort = abort_.get_token()};
};
INSTANTIATE_TEST_SUITE_P(Kinds, ConnectTest, testing::ValuesIn(PlainLinkKinds()), NameOf);

TEST_P(ConnectTest, AnAbortEndsTheWait) {
  for (const std::size_t self : {0u, 1u}) {  // the dialling rank and the called one
    auto ranks = TwoRanks(GetParam());
    std::stop_source abort;
    ConnectTools tools = tools_;
    tools.abort = abort.get_token();
    std::thread other([&] { abort.request_stop(); });
    const auto links = Connect(RequestOf(ranks[self], ranks, GetParam().Options()),
                               std::move(ranks[self].endpoint), tools);
    other.join();
    ASSERT_FALSE(links.ok());
    EXPECT_EQ(links.error().code, Code::kAborted);
  }
}

TEST_P(ConnectTest, TheDeadlineNamesTheMissingRank) {
  for (const std::size_t self : {0u, 1u}) {
    auto ranks = TwoRanks(GetParam());
    ConnectRequest request = RequestOf(ranks[self], ranks, GetParam().Options());
    request.deadline = os::Now() + std::chrono::milliseconds(10);
    const auto links = Connect(request, std::move(ranks[self].endpoint), tools_);
    ASSERT_FALSE(links.ok());
    EXPECT_EQ(links.error().code, Code::kTimeout);
    EXPECT_THAT(links.error().message, HasSubstr("rank " + std::to_string(1 - self)));
  }
}

/// Returns the error of two ranks with different secrets, after this timeout.
std::pair<Result<std::unique_ptr<Links>>, Result<std::unique_ptr<Links>>> ConnectDivided(
    const LinkKind& kind, const ConnectTools& tools, std::chrono::milliseconds timeout) {
  auto ranks = TwoRanks(kind);
  ConnectRequest requests[2] = {RequestOf(ranks[0], ranks, kind.Options()),
                                RequestOf(ranks[1], ranks, kind.Options())};
  requests[1].credentials.secret[5] = std::byte{1};
  for (ConnectRequest& request : requests) request.deadline = os::Now() + timeout;
  std::optional<Result<std::unique_ptr<Links>>> other;
  std::thread thread([&] { other = Connect(requests[1], std::move(ranks[1].endpoint), tools); });
  auto mine = Connect(requests[0], std::move(ranks[0].endpoint), tools);
  thread.join();
  return {std::move(mine), *std::move(other)};
}

TEST_P(ConnectTest, RefusesAnotherSecret) {
  if (GetParam().choice == LinkChoice::kInproc)
    GTEST_SKIP() << "one process has no secrets from itself";
  // An endpoint of libfabric may take longer to open than the first timeout.
  for (std::chrono::milliseconds timeout(300);; timeout *= 4) {
    const auto [mine, other] = ConnectDivided(GetParam(), tools_, timeout);
    ASSERT_FALSE(mine.ok() || other.ok());
    const bool met = mine.error().message.find("no answer") == std::string::npos;
    if (!met && timeout < kTimeout) continue;
    EXPECT_THAT(mine.error().message, HasSubstr("the secrets differ"));
    EXPECT_THAT(other.error().message, HasSubstr("rank 0 on testhost (it has not called)"));
    return;
  }
}

// A connection of a stranger that found the address by chance.
os::Fd CallAsStranger(const Address& at, std::string_view words) {
  const os::SocketAddress to = os::ToSocketAddress(at);
  os::Fd fd(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(fd.get(), to.get(), to.bytes), 0);
  EXPECT_EQ(::send(fd.get(), words.data(), words.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(words.size()));
  return fd;
}

TEST_P(ConnectTest, StrangersCauseANoteButNoFailure) {
  auto ranks = TwoRanks(GetParam());
  std::atomic<int> notes{0};
  tools_.note = [&](const Note& note) { notes += note.level == LogLevel::kWarn; };
  std::vector<os::Fd> strangers;
  const std::string garbage(1000, 'G');
  for (const Address& at : {ranks[1].neighbour.tcp[0], ranks[1].neighbour.unix_socket}) {
    strangers.push_back(CallAsStranger(at, ""));  // sends nothing, and stays
    strangers.push_back(CallAsStranger(at, garbage));
    CallAsStranger(at, "GET / HTTP/1.0\r\n\r\n").Close();
  }
  const auto all = ConnectAll(ranks, tools_, GetParam().Options());
  ASSERT_TRUE(all[0].ok()) << all[0].error().message;
  ASSERT_TRUE(all[1].ok()) << all[1].error().message;
  Link& from = *(*all[0])->Find(Rank{1});
  Link& to = *(*all[1])->Find(Rank{0});
  ASSERT_EQ(from.Write(AsView("x")).value(), 1u);
  EXPECT_TRUE(WaitUntil((*all[1])->waiter(), [&] { return !to.Peek()->empty(); }));
  EXPECT_LE(notes.load(), 4);
}

TEST_P(ConnectTest, ConnectsManyRanksAtOnce) {
  std::vector<TestRank> ranks;
  for (std::uint32_t i = 0; i < 8; ++i) {
    ranks.emplace_back(i);
    if (GetParam().choice == LinkChoice::kInproc) ranks[i].neighbour.process_hash = 1;
  }
  const auto all = ConnectAll(ranks, tools_, GetParam().Options());
  for (const auto& links : all) {
    ASSERT_TRUE(links.ok()) << links.error().message;
    EXPECT_EQ((*links)->Summary(), std::string("7 ") + GetParam().name);
  }
}

}  // namespace
}  // namespace ringlet::transport
