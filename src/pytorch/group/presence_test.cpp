#include "pytorch/group/presence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pytorch/store/store_for_test.hpp"
#include "pytorch/tensors/process.hpp"

namespace ringlet::torch_api {
namespace {

using State = Presence::State;

std::shared_ptr<comm::Beacon> NewBeacon() {
  const auto process = SharedProcess();
  auto beacon = comm::Beacon::Start(**process);
  EXPECT_TRUE(beacon.ok());
  return *beacon;
}

State Eventually(Presence& presence, std::uint32_t rank, State wanted) {
  State state = State::kUnknown;
  for (int look = 0; look < 100'000 && state != wanted; ++look) state = presence.Of(rank);
  return state;
}

TEST(Presence, AnUnannouncedRankIsUnknown) {
  MemoryStore store;
  Presence own(store, {.rank = 0, .process = 10});
  ASSERT_TRUE(own.Announce().ok());
  EXPECT_EQ(own.Of(1), State::kUnknown);
  Presence other(store, {.rank = 1, .beacon = NewBeacon(), .process = 11});
  ASSERT_TRUE(other.Announce().ok());
  EXPECT_EQ(Eventually(own, 1, State::kThere), State::kThere);
  EXPECT_EQ(AbsenceReason(own, 1), "");
}

TEST(Presence, ARankThatLeavesIsNotReportedDead) {
  MemoryStore store;
  Presence own(store, {.rank = 0, .process = 10});
  ASSERT_TRUE(own.Announce().ok());
  {
    Presence other(store, {.rank = 1, .beacon = NewBeacon(), .process = 11});
    ASSERT_TRUE(other.Announce().ok());
    EXPECT_EQ(own.Of(1), State::kThere);
    ASSERT_TRUE(other.Leave(Presence::Use::kNone).ok());
  }
  EXPECT_EQ(Eventually(own, 1, State::kLeft), State::kLeft);
  EXPECT_THAT(AbsenceReason(own, 1), testing::HasSubstr("rank 1 has left"));
}

TEST(Presence, ARankIsLostWhenItsProcessEnds) {
  MemoryStore store;
  Presence own(store, {.rank = 0, .process = 10});
  ASSERT_TRUE(own.Announce().ok());
  {
    Presence other(store, {.rank = 1, .beacon = NewBeacon(), .process = 11});
    ASSERT_TRUE(other.Announce().ok());
    EXPECT_EQ(own.Of(1), State::kThere);
  }  // closes its beacon, as the end of its process would
  EXPECT_EQ(Eventually(own, 1, State::kGone), State::kGone);
  EXPECT_THAT(AbsenceReason(own, 1), testing::HasSubstr("rank 1 is lost"));
}

// Rank 1 ends between rank 0's checks of rank 1 and rank 2, which leaves because of rank 1.
TEST(Presence, NamesTheLostRankBeforeOneThatLeftBecauseOfIt) {
  struct Store : MemoryStore {
    Result<std::optional<Bytes>> Find(const std::string& key) override {
      if (key == "at:2") dies.reset();
      return MemoryStore::Find(key);
    }
    std::shared_ptr<comm::Beacon> dies = NewBeacon();
  };
  for (const bool known : {true, false}) {
    Store store;
    Presence own(store, {.rank = 0, .process = 10});
    ASSERT_TRUE(own.Announce().ok());
    ASSERT_TRUE(Presence(store, {.rank = 1, .beacon = store.dies, .process = 11}).Announce().ok());
    if (known) {
      EXPECT_EQ(own.Of(1), State::kThere);
    }
    Presence other(store, {.rank = 2, .beacon = NewBeacon(), .process = 12});
    ASSERT_TRUE(other.Announce().ok());
    ASSERT_TRUE(other.Leave(Presence::Use::kNone).ok());
    const auto absent = AbsenceReason(own, {1, 2});
    ASSERT_EQ(absent.size(), 2u);
    EXPECT_THAT(absent[0].second, testing::HasSubstr("rank 1 is lost"));
    EXPECT_THAT(absent[1].second, testing::HasSubstr("rank 2 has left"));
    EXPECT_THAT(AbsenceReason(own, 3, 0), testing::HasSubstr("rank 1 is lost"));
  }
}

// Announces and returns the number of the rank's generation.
std::uint64_t Joined(Presence& presence) {
  EXPECT_TRUE(presence.Announce().ok());
  return presence.generation();
}

TEST(Presence, EarlyAndLateProcessesCountGenerationsAlike) {
  MemoryStore store;
  const auto beacon = NewBeacon();
  for (const std::uint64_t expected : {1u, 2u, 3u}) {
    Presence early(store, {.rank = 0, .beacon = beacon, .process = 10});
    EXPECT_EQ(Joined(early), expected);
    ASSERT_TRUE(early.Leave(Presence::Use::kNone).ok());
  }
  for (const std::uint64_t expected : {1u, 2u, 3u}) {
    Presence late(store, {.rank = 1, .beacon = beacon, .process = 11});
    EXPECT_EQ(Joined(late), expected);
    ASSERT_TRUE(late.Leave(Presence::Use::kNone).ok());
  }
}

TEST(Presence, IgnoresNotesOfAnEarlierGeneration) {
  for (const bool dies : {true, false}) {
    MemoryStore store;
    {
      Presence before(store, {.rank = 1, .beacon = NewBeacon(), .process = 11});
      EXPECT_EQ(Joined(before), 1u);
      Presence waits(store, {.rank = 0, .process = 10});
      EXPECT_EQ(Joined(waits), 1u);
      if (!dies) {
        ASSERT_TRUE(before.Leave(Presence::Use::kConnected).ok());
      }
    }
    Presence own(store, {.rank = 0, .process = 20});
    EXPECT_EQ(Joined(own), 2u);
    for (int look = 0; look < 100; ++look) EXPECT_EQ(own.Of(1, true), State::kUnknown);
    auto after = std::make_unique<Presence>(
        store, Presence::Self{.rank = 1, .beacon = NewBeacon(), .process = 21});
    EXPECT_EQ(Joined(*after), 2u);
    EXPECT_EQ(Eventually(own, 1, State::kThere), State::kThere);
    after = nullptr;
    EXPECT_EQ(Eventually(own, 1, State::kGone), State::kGone);
  }
}

// Rank 1 ended before it created the group for the first time; then all processes restart.
TEST(Presence, AProcessThatMissedAGenerationJoinsInAnyOrder) {
  for (const bool first : {true, false}) {
    MemoryStore store;
    {
      Presence alone(store, {.rank = 0, .beacon = NewBeacon(), .process = 10});
      EXPECT_EQ(Joined(alone), 1u);
    }
    Presence zero(store, {.rank = 0, .beacon = NewBeacon(), .process = 20});
    Presence one(store, {.rank = 1, .beacon = NewBeacon(), .process = 21});
    EXPECT_EQ(Joined(first ? one : zero), 2u);
    EXPECT_EQ(Joined(first ? zero : one), 2u);
  }
}

// Rank 0 survives the failure of its generation, which it tried to connect, and creates another.
TEST(Presence, ALateProcessJoinsTheGenerationAfterAFailedOne) {
  MemoryStore store;
  const auto beacon = NewBeacon();
  Presence failed(store, {.rank = 0, .beacon = beacon, .process = 10});
  EXPECT_EQ(Joined(failed), 1u);
  ASSERT_TRUE(failed.Leave(Presence::Use::kConnected).ok());
  Presence next(store, {.rank = 0, .beacon = beacon, .process = 10});
  EXPECT_EQ(Joined(next), 2u);
  Presence other(store, {.rank = 1, .beacon = NewBeacon(), .process = 11});
  EXPECT_EQ(Joined(other), 2u);
}

// Rank 0 makes the group `times` times while rank 1 is in generation 1. If `ahead` is given, rank 0
// leaves each generation except the last as `ahead`. Rank 1 then leaves as `behind` and makes the
// group again. Returns the generation of that group.
std::uint64_t GenerationAfter(std::uint64_t times, std::optional<Presence::Use> ahead,
                              Presence::Use behind) {
  MemoryStore store;
  const auto beacon = NewBeacon();
  Presence slow(store, {.rank = 1, .beacon = beacon, .process = 11});
  EXPECT_EQ(Joined(slow), 1u);
  for (std::uint64_t time = 1; time <= times; ++time) {
    Presence quick(store, {.rank = 0, .beacon = beacon, .process = 10});
    EXPECT_EQ(Joined(quick), time);
    if (ahead && time < times) {
      EXPECT_TRUE(quick.Leave(*ahead).ok());
    }
  }
  EXPECT_EQ(slow.Of(0), State::kLeft);
  EXPECT_TRUE(slow.Leave(behind).ok());
  Presence next(store, {.rank = 1, .beacon = beacon, .process = 11});
  return Joined(next);
}

TEST(Presence, ALaggingRankCatchesUpAfterAFailure) {
  EXPECT_EQ(GenerationAfter(3, std::nullopt, Presence::Use::kFailed), 4u);
}

// The others have left the generation in order, and one of them is already in the next one.
TEST(Presence, ALaggingRankKeepsItsCountAfterOrderlyDepartures) {
  EXPECT_EQ(GenerationAfter(2, Presence::Use::kConnected, Presence::Use::kConnected), 2u);
}

TEST(Presence, TheEndOfAnEarlierGenerationDoesNotEndALaterOne) {
  MemoryStore store;
  const auto beacon = NewBeacon();
  Presence other(store, {.rank = 0, .process = 10});
  Presence before(store, {.rank = 1, .beacon = beacon, .process = 11});
  EXPECT_EQ(Joined(before), 1u);
  EXPECT_EQ(Joined(other), 1u);
  Presence after(store, {.rank = 1, .beacon = beacon, .process = 11});
  EXPECT_EQ(Joined(after), 2u);
  ASSERT_TRUE(before.Leave(Presence::Use::kConnected).ok());
  EXPECT_EQ(other.Of(1), State::kLeft);
  Presence own(store, {.rank = 0, .process = 10});
  EXPECT_EQ(Joined(own), 2u);
  EXPECT_EQ(own.Of(1), State::kThere);
}

TEST(Presence, IgnoresInvalidEntriesInTheStore) {
  MemoryStore store;
  ASSERT_TRUE(store.Set("at:1", AsView("nonsense")).ok());
  Presence own(store, {.rank = 0, .process = 10});
  ASSERT_TRUE(own.Announce().ok());
  EXPECT_EQ(own.Of(1), State::kUnknown);
}

}  // namespace
}  // namespace ringlet::torch_api
