// Links between real processes. The child is forked with its listeners already open, so both know
// each other's addresses without an exchange.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <cstring>

#include "link_kinds.hpp"

namespace ringlet::transport {
namespace {

using testing::HasSubstr;

std::vector<LinkKind> KindsBetweenProcesses() {
  std::vector<LinkKind> kinds = PlainLinkKinds();
  std::erase_if(kinds, [](const LinkKind& kind) { return kind.choice == LinkChoice::kInproc; });
  kinds.push_back({.name = "shm_tiny", .choice = LinkChoice::kShm, .pipe_bytes = 64});
  return kinds;
}

// One rank of two in a process of its own, with the other's listeners closed.
struct RankProcess {
  RankProcess(std::vector<TestRank>& ranks, std::size_t self, const LinkKind& kind)
      : service(), exchange(), tools{.driver = service.driver(), .inproc = exchange} {
    ranks[1 - self].endpoint.listeners.clear();
    links = Connect(RequestOf(ranks[self], ranks, kind.Options()), std::move(ranks[self].endpoint),
                    tools);
    link = links->ok() ? (**links)->Find(static_cast<Rank>(1 - self)) : nullptr;
  }
  Waiter& waiter() { return (**links)->waiter(); }

  DriverThread service;
  InprocExchange exchange;
  ConnectTools tools;
  std::optional<Result<std::unique_ptr<Links>>> links;
  Link* link = nullptr;
};

// Sends all received data back until the peer leaves. The child's exit status is the outcome.
[[noreturn]] void Echo(std::vector<TestRank>& ranks, const LinkKind& kind) {
  constexpr int kOk = 0, kNotConnected = 1, kHung = 2;
  RankProcess process(ranks, 1, kind);
  if (!process.link) ::_exit(kNotConnected);
  const bool peer_left = WaitUntil(process.waiter(), [&] {
    for (;;) {
      const auto view = process.link->Peek();
      if (!view.ok()) return true;
      const auto written = process.link->Write(*view);
      if (!written.ok()) return true;
      if (*written == 0) return false;
      process.link->Consume(*written);
    }
  });
  ::_exit(peer_left ? kOk : kHung);
}

class ProcessTest : public testing::TestWithParam<LinkKind> {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNot(GetParam()); !why.empty()) GTEST_SKIP() << why;
    std::vector<TestRank> ranks = TwoRanks(GetParam());
    child_ = ::fork();
    if (child_ == 0) Echo(ranks, GetParam());
    process_ = std::make_unique<RankProcess>(ranks, 0, GetParam());
    ASSERT_TRUE(process_->link) << process_->links->error().message;
  }
  void TearDown() override {
    if (child_ > 0) ::kill(child_, SIGKILL);
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }
  int ReapChild() {
    int status = 0;
    EXPECT_EQ(::waitpid(std::exchange(child_, -1), &status, 0) > 0, true);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  bool RoundTrip(std::size_t bytes) {
    std::size_t sent = 0, back = 0;
    bool right = true;
    return WaitUntil(process_->waiter(),
                     [&] {
                       for (bool moved = true; moved;) {
                         Bytes piece(std::min<std::size_t>(bytes - sent, 10'000));
                         for (std::size_t i = 0; i < piece.size(); ++i)
                           piece[i] = static_cast<std::byte>((sent + i) * 7);
                         const std::size_t n = process_->link->Write(piece).value();
                         sent += n;
                         const View view = process_->link->Peek().value();
                         for (std::size_t i = 0; i < view.size(); ++i)
                           right = right && view[i] == static_cast<std::byte>((back + i) * 7);
                         back += view.size();
                         moved = n > 0 || !view.empty();
                         process_->link->Consume(view.size());
                       }
                       return back == bytes;
                     }) &&
           right;
  }

  pid_t child_ = -1;
  std::unique_ptr<RankProcess> process_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, ProcessTest, testing::ValuesIn(KindsBetweenProcesses()),
                         [](const auto& it) { return std::string(it.param.name); });

TEST_P(ProcessTest, BytesReturnFromAnotherProcess) {
  EXPECT_TRUE(RoundTrip(GetParam().Tiny() ? 100'000 : 4'000'000));
  process_.reset();
  EXPECT_EQ(ReapChild(), 0) << "1: not connected, 2: never heard that rank 0 left";
}

TEST_P(ProcessTest, AKilledProcessIsALostPeer) {
  ASSERT_TRUE(RoundTrip(10));
  ASSERT_EQ(::kill(child_, SIGKILL), 0);
  Bytes out(1);
  EXPECT_TRUE(WaitUntil(process_->waiter(), [&] { return !process_->link->Read(out).ok(); }));
  const auto read = process_->link->Read(out);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kPeerLost);
  EXPECT_THAT(read.error().message, HasSubstr("rank 1 on testhost"));
  EXPECT_EQ(ReapChild(), 1000 + SIGKILL);
}

// ---- what lies where ----------------------------------------------------------------------------

// One address in both processes.
alignas(64) std::array<std::byte, 256 << 10> same_place;

/// Both processes offer their own memory at that address and fetch the other's. Returns false if
/// the fetched data was not the other's.
bool TradeOffers(RankProcess& process, std::byte mine, std::byte theirs) {
  Link& link = *process.link;
  same_place.fill(mine);
  const std::uint64_t offer = link.SendRts(same_place);
  std::array<std::byte, 8> told{};
  std::memcpy(told.data(), &offer, told.size());
  std::size_t gone = 0, came = 0;
  WaitUntil(process.waiter(), [&] {
    gone += link.Write(View(told).subspan(gone)).value();
    return gone == told.size();
  });
  WaitUntil(process.waiter(), [&] {
    came += link.Read(std::span(told).subspan(came)).value();
    return came == told.size();
  });
  std::uint64_t place = 0;
  std::memcpy(&place, told.data(), told.size());
  Bytes fetched(same_place.size());
  const auto copy = [](View from, std::byte* to) { std::memcpy(to, from.data(), from.size()); };
  const bool taken = place != 0 && link.Get(place, 0, fetched, copy).value();
  link.SendAck(taken);
  WaitUntil(process.waiter(), [&] { return offer == 0 || link.TakeAck().value().has_value(); });
  return !taken || fetched == Bytes(fetched.size(), theirs);
}

TEST(ForkedProcesses, DoNotFetchFromTheirOwnMemory) {
  const LinkKind kind{.name = "shm", .choice = LinkChoice::kShm};
  std::vector<TestRank> ranks = TwoRanks(kind);
  const pid_t child = ::fork();
  if (child == 0) {
    RankProcess process(ranks, 1, kind);
    ::_exit(process.link && TradeOffers(process, std::byte{2}, std::byte{1}) ? 0 : 1);
  }
  RankProcess process(ranks, 0, kind);
  ASSERT_TRUE(process.link);
  EXPECT_TRUE(TradeOffers(process, std::byte{1}, std::byte{2}));
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ringlet::transport
