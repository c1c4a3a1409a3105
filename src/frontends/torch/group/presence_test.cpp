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

// Rank 1 ends when rank 0 has looked at it and not yet at rank 2, which then leaves because of it.
TEST(Presence, OfARankThatIsGoneAndOneThatLeftBecauseOfItTheFirstIsNamed) {
  struct Store : MemoryStore {
    Result<std::optional<Bytes>> Find(const std::string& key) override {
      if (key == "at:2") dies.reset();
      return MemoryStore::Find(key);
    }
    std::shared_ptr<comm::Beacon> dies = NewBeacon();
  };
  for (const bool known : {true, false}) {
    Store store;
    Presence own(store, 0, nullptr);
    ASSERT_TRUE(Presence(store, 1, store.dies).Announce().ok());
    if (known) {
      EXPECT_EQ(own.Of(1), State::kThere);
    }
    ASSERT_TRUE(Presence(store, 2, NewBeacon()).Leave().ok());
    const auto absent = WhyInVain(own, {1, 2});
    ASSERT_EQ(absent.size(), 2u);
    EXPECT_THAT(absent[0].second, testing::HasSubstr("rank 1 is gone"));
    EXPECT_THAT(absent[1].second, testing::HasSubstr("rank 2 has left"));
    EXPECT_THAT(WhyInVain(own, 3, 0), testing::HasSubstr("rank 1 is gone"));
  }
}

TEST(Presence, NonsenseInTheStoreSaysNothing) {
  MemoryStore store;
  ASSERT_TRUE(store.Set("at:1", AsView("nonsense")).ok());
  Presence own(store, 0, nullptr);
  EXPECT_EQ(own.Of(1), State::kUnknown);
}

}  // namespace
}  // namespace ringlet::torch_api
