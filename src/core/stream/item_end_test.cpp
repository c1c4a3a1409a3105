#include "stream/item_end.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ringlet::stream {
namespace {

FailureRef Broken(std::vector<FailureTolerance> sources = {}) {
  return std::make_shared<const ItemFailure>(
      ItemFailure{Error{Code::kSystem, "the link broke"}, std::move(sources)});
}

TEST(ItemEnd, IsPendingUntilItEnds) {
  ItemEnd completion;
  EXPECT_TRUE(completion.pending());
  completion.Complete(Instant(7));
  EXPECT_FALSE(completion.pending());
  EXPECT_EQ(completion.when(), Instant(7));
  EXPECT_EQ(completion.failure(), nullptr);
}

TEST(ItemEnd, AWaiterOfAnotherThreadSeesTheFailure) {
  ItemEnd completion;
  std::string seen;
  {
    const std::jthread waiter([&] {
      completion.Wait();
      seen = completion.failure()->error.message;
    });
    completion.Fail(Instant(1), Broken());
  }
  EXPECT_EQ(seen, "the link broke");
}

TEST(ItemEnd, AFailureIsClearedWithItsSource) {
  const auto order = std::make_shared<SerialOrder>();
  const auto completion = std::make_shared<ItemEnd>();
  completion->Fail(Instant(1), Broken({order->failure_tolerance()}));
  EXPECT_TRUE(IsPendingOrFailed(completion));
  order->TolerateFailures();
  EXPECT_EQ(completion->failure(), nullptr);
  EXPECT_FALSE(IsPendingOrFailed(completion));
}

TEST(ItemEnd, OnlyPendingAndFailedItemsMatter) {
  EXPECT_FALSE(IsPendingOrFailed(nullptr));
  EXPECT_FALSE(IsPendingOrFailed(ItemEnd::At(Instant(1))));
  EXPECT_TRUE(IsPendingOrFailed(std::make_shared<ItemEnd>()));
}

TEST(SerialOrder, IsNotKeptAliveByTheFailureOfItsLastItem) {
  auto order = std::make_shared<SerialOrder>();
  const auto completion = std::make_shared<ItemEnd>();
  completion->Fail(Instant(1), Broken({order->failure_tolerance()}));
  order->Follow(completion);
  const std::weak_ptr<SerialOrder> seen = order;
  order.reset();
  EXPECT_TRUE(seen.expired());
  EXPECT_TRUE(completion->failure()) << "nobody has forgiven it";
}

TEST(SerialOrder, KeepsItsLastItem) {
  SerialOrder order;
  EXPECT_EQ(order.last(), nullptr);
  const ItemEndRef next = ItemEnd::At(Instant(1));
  order.Follow(next);
  EXPECT_EQ(order.last(), next);
}

}  // namespace
}  // namespace ringlet::stream
