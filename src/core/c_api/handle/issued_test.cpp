#include "c_api/handle/issued.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ringlet::c_api {
namespace {

TEST(Issued, IsPendingUntilItsLastOperationEnds) {
  const Issued issued;
  EXPECT_FALSE(issued.pending());
  issued.Await();
  const auto end = std::make_shared<stream::ItemEnd>();
  issued.order()->Follow(end);
  EXPECT_TRUE(issued.pending());
  {
    const std::jthread waiter([&] { issued.Await(); });
    end->Complete(Instant(1));
  }
  EXPECT_FALSE(issued.pending());
}

TEST(Issued, IsInUseWhileAnOperationRuns) {
  Issued issued;
  issued.AwaitUnused();
  auto outer = std::make_unique<Issued::InUse>(issued);
  Issued::InUse moved = std::move(*outer);
  outer.reset();
  std::atomic<bool> over{false};
  std::jthread waiter([&] {
    issued.AwaitUnused();
    EXPECT_TRUE(over);
  });
  over = true;
  { const Issued::InUse last = std::move(moved); }
}

TEST(Issued, LaterUsersSeeThatItIsClosed) {
  Issued issued;
  EXPECT_FALSE(issued.closed());
  issued.Close();
  const Issued::InUse later(issued);
  EXPECT_TRUE(issued.closed());
}

}  // namespace
}  // namespace ringlet::c_api
