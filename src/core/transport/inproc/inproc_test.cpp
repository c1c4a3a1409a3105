#include "transport/inproc/inproc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "os/clock.hpp"

namespace ringlet::transport {
namespace {

using testing::HasSubstr;

std::shared_ptr<RankBell> MakeInprocBell() {
  auto word = std::make_shared<DoorbellWord>();
  auto waiter = DoorbellWaiter::Create(*word, {});
  EXPECT_TRUE(waiter.ok());
  return std::make_shared<RankBell>(RankBell{word, std::move(waiter).value()});
}

Instant Soon() {
  return os::Now() + std::chrono::seconds(30);
}
constexpr InprocExchange::RankPair kLow{7, Rank{0}, Rank{1}}, kHigh{7, Rank{1}, Rank{0}};

TEST(InprocExchange, ConnectsTwoRanksInAnyOrder) {
  InprocExchange exchange;
  exchange.Arrive(kHigh, MakeInprocBell(), 64);
  exchange.Arrive(kLow, MakeInprocBell(), 64);
  auto low = exchange.Await(kLow, Soon(), {});
  auto high = exchange.Await(kHigh, Soon(), {});
  ASSERT_TRUE(low.ok() && high.ok());
  const auto a = MakeInprocLink(*low, Rank{0}, Rank{1}, "here");
  const auto b = MakeInprocLink(*high, Rank{1}, Rank{0}, "here");
  ASSERT_EQ(a->Write(AsView("to b")).value(), 4u);
  ASSERT_EQ(b->Write(AsView("to a!")).value(), 5u);
  EXPECT_EQ(AsText(b->Peek().value()), "to b");
  EXPECT_EQ(AsText(a->Peek().value()), "to a!");
  EXPECT_EQ(a->kind(), "inproc");
}

TEST(InprocExchange, WaitsForAnotherThread) {
  InprocExchange exchange;
  std::thread other([&] {
    exchange.Arrive(kHigh, MakeInprocBell(), 64);
    EXPECT_TRUE(exchange.Await(kHigh, Soon(), {}).ok());
  });
  exchange.Arrive(kLow, MakeInprocBell(), 64);
  EXPECT_TRUE(exchange.Await(kLow, Soon(), {}).ok());
  other.join();
}

TEST(InprocExchange, TheFirstRankIsWokenAndTakesItsChannel) {
  InprocExchange exchange;
  const auto bell = MakeInprocBell();
  exchange.Arrive(kLow, bell, 64);
  EXPECT_EQ(exchange.Take(kLow), nullptr);
  const Waiter::Ticket before = bell->waiter->Prepare();
  exchange.Arrive(kHigh, MakeInprocBell(), 64);
  EXPECT_NE(bell->waiter->Prepare(), before);
  const auto low = exchange.Take(kLow);
  ASSERT_NE(low, nullptr);
  EXPECT_EQ(low, exchange.Take(kHigh));
  EXPECT_EQ(exchange.Take(kLow), nullptr) << "both have it";
}

TEST(InprocExchange, CommunicatorsAreSeparate) {
  InprocExchange exchange;
  exchange.Arrive({8, Rank{1}, Rank{0}}, MakeInprocBell(), 64);
  exchange.Arrive(kLow, MakeInprocBell(), 64);
  const auto met = exchange.Await(kLow, os::Now(), {});
  ASSERT_FALSE(met.ok());
  EXPECT_EQ(met.error().code, Code::kTimeout);
  EXPECT_THAT(met.error().message, HasSubstr("rank 1"));
}

TEST(InprocExchange, AnAbortEndsTheWait) {
  InprocExchange exchange;
  exchange.Arrive(kLow, MakeInprocBell(), 64);
  std::stop_source abort;
  std::thread other([&] { abort.request_stop(); });
  EXPECT_EQ(exchange.Await(kLow, Soon(), abort.get_token()).error().code, Code::kAborted);
  other.join();
}

TEST(InprocExchange, AWithdrawalOfTheLowerRankIsALoss) {
  InprocExchange exchange;
  exchange.Arrive(kLow, MakeInprocBell(), 64);
  exchange.Arrive(kHigh, MakeInprocBell(), 64);
  exchange.Withdraw(kLow);
  auto channel = exchange.Await(kHigh, Soon(), {});
  ASSERT_TRUE(channel.ok());
  const auto link = MakeInprocLink(*channel, Rank{1}, Rank{0}, "here");
  EXPECT_EQ(link->Peek().error().code, Code::kPeerLost);
  EXPECT_EQ(link->Write(AsView("x")).error().code, Code::kPeerLost);
}

// Each end locks the other's mutex to fetch, and its own to withdraw.
TEST(InprocExchange, OffersAreFetchedInBothDirections) {
  InprocExchange exchange;
  exchange.Arrive(kLow, MakeInprocBell(), 64);
  exchange.Arrive(kHigh, MakeInprocBell(), 64);
  const auto low = MakeInprocLink(*exchange.Await(kLow, Soon(), {}), Rank{0}, Rank{1}, "here");
  const auto high = MakeInprocLink(*exchange.Await(kHigh, Soon(), {}), Rank{1}, Rank{0}, "here");
  const Bytes data(64 << 10, std::byte{'d'});
  for (const auto& [from, to] :
       {std::pair(low.get(), high.get()), std::pair(high.get(), low.get())}) {
    const std::uint64_t offer = from->SendRts(data);
    ASSERT_NE(offer, 0u);
    Bytes copy(data.size());
    ASSERT_TRUE(to->Get(offer, 0, copy, Copy).value());
    EXPECT_EQ(copy, data);
    to->SendAck(true);
    EXPECT_EQ(from->TakeAck().value(), true);
    const std::uint64_t again = from->SendRts(data);
    from->Withdraw();
    const auto fetched = to->Get(again, 0, copy, Copy);
    EXPECT_FALSE(fetched.ok() && *fetched) << "it was taken back";
  }
}

TEST(InprocExchange, AWithdrawalOfTheHigherRankIsALoss) {
  InprocExchange exchange;
  exchange.Arrive(kHigh, MakeInprocBell(), 64);
  EXPECT_EQ(exchange.Await(kHigh, os::Now(), {}).error().code, Code::kTimeout);
  exchange.Arrive(kLow, MakeInprocBell(), 64);
  exchange.Withdraw(kHigh);
  auto channel = exchange.Await(kLow, Soon(), {});
  ASSERT_TRUE(channel.ok());
  const auto link = MakeInprocLink(*channel, Rank{0}, Rank{1}, "here");
  EXPECT_EQ(link->Peek().error().code, Code::kPeerLost);
  EXPECT_EQ(link->Write(AsView("x")).error().code, Code::kPeerLost);
}

TEST(InprocExchange, AWithdrawalWithoutAPeerLeavesNoChannel) {
  InprocExchange exchange;
  exchange.Arrive(kLow, MakeInprocBell(), 64);
  exchange.Withdraw(kLow);
  exchange.Withdraw(kLow);
  exchange.Arrive(kHigh, MakeInprocBell(), 64);
  EXPECT_EQ(exchange.Await(kHigh, os::Now(), {}).error().code, Code::kTimeout);
}

}  // namespace
}  // namespace ringlet::transport
