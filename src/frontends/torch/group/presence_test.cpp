#include "frontends/torch/group/presence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/torch/group/store_for_test.hpp"
#include "frontends/torch/process.hpp"

namespace ringlet::torch_api {
namespace {

using State = Presence::State;

std::shared_ptr<comm::Beacon> NewBeacon() {
  const auto process = SharedProcess();
  auto beacon = comm::Beacon::Light(**process);
  EXPECT_TRUE(beacon.ok());
  return *beacon;
}

State Eventually(Presence& presence, std::uint32_t rank, State wanted) {
  State state = State::kUnknown;
  for (int look = 0; look < 100'000 && state != wanted; ++look) state = presence.Of(rank);
  return state;
}

TEST(Presence, ARankThatHasNotComeIsUnknown) {
  MemoryStore store;
  Presence own(store, 0, nullptr);
  EXPECT_EQ(own.Of(1), State::kUnknown);
  Presence other(store, 1, NewBeacon());
  ASSERT_TRUE(other.Announce().ok());
  EXPECT_EQ(Eventually(own, 1, State::kThere), State::kThere);
  EXPECT_EQ(WhyInVain(own, 1), "");
}

TEST(Presence, ARankThatLeavesIsNotTakenForDead) {
  MemoryStore store;
  Presence own(store, 0, nullptr);
  {
    Presence other(store, 1, NewBeacon());
    ASSERT_TRUE(other.Announce().ok());
    EXPECT_EQ(own.Of(1), State::kThere);
    ASSERT_TRUE(other.Leave().ok());
  }
  EXPECT_EQ(Eventually(own, 1, State::kLeft), State::kLeft);
  EXPECT_THAT(WhyInVain(own, 1), testing::HasSubstr("rank 1 has left"));
}

TEST(Presence, ARankIsGoneWhenItsProcessEnds) {
  MemoryStore store;
  Presence own(store, 0, nullptr);
  {
    Presence other(store, 1, NewBeacon());
    ASSERT_TRUE(other.Announce().ok());
    EXPECT_EQ(own.Of(1), State::kThere);
  }  // its beacon closes as it would with its process
  EXPECT_EQ(Eventually(own, 1, State::kGone), State::kGone);
  EXPECT_THAT(WhyInVain(own, 1), testing::HasSubstr("rank 1 is gone"));
}

TEST(Presence, NonsenseInTheStoreSaysNothing) {
  MemoryStore store;
  ASSERT_TRUE(store.Set("at:1", AsView("nonsense")).ok());
  Presence own(store, 0, nullptr);
  EXPECT_EQ(own.Of(1), State::kUnknown);
}

}  // namespace
}  // namespace ringlet::torch_api
