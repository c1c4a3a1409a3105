#include "collective/interpreter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "collective/ring.hpp"

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

std::vector<Rank> Ascending(std::size_t ranks) {
  std::vector<Rank> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Rank{i});
  return order;
}

std::vector<Rank> Rotated(std::size_t ranks, std::size_t by) {
  std::vector<Rank> order = Ascending(ranks);
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(by % ranks), order.end());
  return order;
}

std::vector<Rank> Shuffled(std::size_t ranks, std::uint64_t seed) {
  std::vector<Rank> order = Ascending(ranks);
  Prng prng(seed);
  for (std::size_t i = ranks; i > 1; --i) std::swap(order[i - 1], order[prng.Below(i)]);
  return order;
}

std::vector<Schedule> Ring(const std::vector<Rank>& order, std::size_t count) {
  std::vector<Schedule> schedules;
  for (const Rank rank : Ascending(order.size())) {
    schedules.push_back(RingAllReduce(order, rank, count));
  }
  return schedules;
}

/// The complaint about `schedules`, or nothing if there is none with any of several seeds.
std::string Complaint(const std::vector<Schedule>& schedules) {
  for (const std::size_t capacity : {0u, 1u, 5u, 1000u}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Status status = ProveAllReduce(schedules, {.seed = seed, .link_capacity = capacity});
      if (!status.ok()) return status.error().message;
    }
  }
  return {};
}

TEST(ProveAllReduce, RingsOfEverySizeAreRight) {
  for (std::size_t n = 1; n <= kProvableRanksMax; ++n) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, 3 * n + 1, std::size_t{97}}) {
      const std::vector<Rank> orders[] = {Ascending(n), Rotated(n, n / 2 + 1), Shuffled(n, n)};
      for (const std::vector<Rank>& order : orders) {
        const ProofOptions options{.seed = n * 1000 + count, .link_capacity = count % 4};
        const Status status = ProveAllReduce(Ring(order, count), options);
        ASSERT_TRUE(status.ok()) << n << " ranks, " << count << " elements, seed " << options.seed
                                 << ": " << status.error().message;
      }
    }
  }
}

TEST(ProveAllReduce, SmallRingsAreRightInManyOrdersOfEvents) {
  for (std::size_t n = 2; n <= 5; ++n) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const ProofOptions options{
          .seed = seed, .link_capacity = seed % 5, .slice_max = seed % 3 + 1};
      const Status status = ProveAllReduce(Ring(Shuffled(n, seed), 2 * n + 1), options);
      ASSERT_TRUE(status.ok()) << n << " ranks, seed " << seed << ": " << status.error().message;
    }
  }
}

// ---- Every way of breaking a schedule is noticed ------------------------------------------------

/// Applies `change` to every step of every rank in turn and expects a complaint each time. A change
/// says whether it applies to a step.
void ExpectAllCaught(const std::function<bool(Schedule&, std::size_t step)>& change) {
  for (const std::size_t n : {2u, 3u, 5u}) {
    const std::vector<Schedule> good = Ring(Shuffled(n, 7), 3 * n + 1);
    std::size_t broken = 0;
    for (std::size_t rank = 0; rank < n; ++rank) {
      for (std::size_t i = 0; i < good[rank].steps.size(); ++i) {
        std::vector<Schedule> bad = good;
        if (!change(bad[rank], i)) continue;
        ++broken;
        EXPECT_FALSE(Complaint(bad).empty())
            << "not noticed with rank " << rank << " of " << n << ", step " << i << '\n'
            << ToText(good[rank]) << "became\n"
            << ToText(bad[rank]);
      }
    }
    EXPECT_GT(broken, 0u);
  }
}

TEST(Mutations, ADroppedStepIsNoticed) {
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    schedule.steps.erase(schedule.steps.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  });
}

TEST(Mutations, SwappedStepsOfOneLinkAreNoticed) {
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    // The next step of the same direction.
    for (std::size_t j = i + 1; j < schedule.steps.size(); ++j) {
      if ((schedule.steps[i].kind == StepKind::kSend) !=
          (schedule.steps[j].kind == StepKind::kSend)) {
        continue;
      }
      std::swap(schedule.steps[i], schedule.steps[j]);
      return true;
    }
    return false;
  });
}

TEST(Mutations, SwappedStepsOfOneChunkAreNoticed) {
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    for (std::size_t j = i + 1; j < schedule.steps.size(); ++j) {
      if (schedule.steps[i].range != schedule.steps[j].range) continue;
      std::swap(schedule.steps[i], schedule.steps[j]);
      return true;
    }
    return false;
  });
}

TEST(Mutations, AChangedRangeIsNoticed) {
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    schedule.steps[i].range.begin += schedule.steps[i].range.begin == 0 ? 1 : std::size_t(-1);
    return true;
  });
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    --schedule.steps[i].range.count;
    return true;
  });
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    ++schedule.steps[i].range.count;
    return true;
  });
}

TEST(Mutations, ADoubledStepIsNoticed) {
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    schedule.steps.insert(schedule.steps.begin() + static_cast<std::ptrdiff_t>(i),
                          schedule.steps[i]);
    return true;
  });
}

TEST(Mutations, AddingInsteadOfReplacingIsNoticedAndTheReverse) {
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    StepKind& kind = schedule.steps[i].kind;
    if (kind == StepKind::kSend) return false;
    kind = kind == StepKind::kReceive ? StepKind::kReceiveSum : StepKind::kReceive;
    return true;
  });
}

TEST(Mutations, AWrongDirectionIsNoticed) {
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    StepKind& kind = schedule.steps[i].kind;
    kind = kind == StepKind::kSend ? StepKind::kReceive : StepKind::kSend;
    schedule.steps[i].finishes = false;
    return true;
  });
}

TEST(Mutations, AWrongPeerOrChannelIsNoticed) {
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    Rank& peer = schedule.steps[i].peer;
    peer = Rank{Index(peer) + 1};
    return true;
  });
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    Rank& peer = schedule.steps[i].peer;
    peer = Rank{Index(peer) == 0 ? 1 : Index(peer) - 1};
    return true;
  });
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    schedule.steps[i].channel = 9;
    return true;
  });
}

TEST(Mutations, FinishingTooOftenOrNotAtAllIsNoticed) {
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    schedule.steps[i].finishes = !schedule.steps[i].finishes;
    return true;
  });
}

// ---- What the sentences say ---------------------------------------------------------------------

Step SendTo(std::uint32_t peer, Range range) {
  return {.kind = StepKind::kSend, .peer = Rank{peer}, .range = range};
}
Step SumFrom(std::uint32_t peer, Range range) {
  return {.kind = StepKind::kReceiveSum, .peer = Rank{peer}, .range = range, .finishes = true};
}

TEST(ProveAllReduce, NamesRankStepAndElement) {
  std::vector<Schedule> schedules = Ring(Ascending(3), 6);
  schedules[1].steps[3].finishes = false;
  EXPECT_THAT(Complaint(schedules), HasSubstr("element"));
  EXPECT_THAT(Complaint(schedules), HasSubstr("never finished"));

  schedules = Ring(Ascending(3), 6);
  schedules[2].steps[1].range.count = 1;
  EXPECT_THAT(Complaint(schedules),
              HasSubstr("meets rank 2, step 1 (receive-sum 1 elements at 2 from rank 1 on channel "
                        "0): the counts differ"));
}

TEST(ProveAllReduce, FindsTheDeadlockOfTwoWhoBothWaitFirst) {
  // In the order of the program each overwrites what it has yet to send.
  const std::vector<Schedule> waiting = {
      {.count = 4, .steps = {SumFrom(1, {0, 4}), SendTo(1, {0, 4})}},
      {.count = 4, .steps = {SumFrom(0, {0, 4}), SendTo(0, {0, 4})}}};
  EXPECT_THAT(Complaint(waiting), HasSubstr("deadlock: rank 0, step 0"));
}

TEST(ProveAllReduce, NamesWhoIsCountedTwice) {
  Step first = SumFrom(0, {0, 4});
  first.finishes = false;
  const std::vector<Schedule> doubled = {
      {.count = 4, .steps = {SendTo(1, {0, 4}), SendTo(1, {0, 4}), SumFrom(1, {0, 4})}},
      {.count = 4, .steps = {first, SumFrom(0, {0, 4}), SendTo(0, {0, 4})}}};
  EXPECT_THAT(Complaint(doubled), HasSubstr("rank 1, step 1 (receive-sum 4 elements at 0 from rank "
                                            "0 on channel 0, finishes): element 0 would count "
                                            "ranks {0} twice"));
}

TEST(ProveAllReduce, NamesWhatIsLeftOverOrMissing) {
  const std::vector<Schedule> left_over = {{.count = 4, .steps = {SendTo(1, {0, 4})}},
                                           {.count = 4, .steps = {}}};
  EXPECT_EQ(Complaint(left_over),
            "rank 0, step 0 (send 4 elements at 0 to rank 1 on channel 0) is never received");
  const std::vector<Schedule> missing = {{.count = 4, .steps = {SumFrom(1, {0, 4})}},
                                         {.count = 4, .steps = {}}};
  EXPECT_EQ(Complaint(missing),
            "rank 0, step 0 (receive-sum 4 elements at 0 from rank 1 on channel 0, finishes) waits "
            "for what nobody sends");
}

TEST(ProveAllReduce, FindsEveryHazardThatAFlowWithoutItsDependenciesAdmits) {
  // Every dependency of every step is there for a reason: without it some order of events is wrong.
  const std::vector<Schedule> schedules = Ring(Ascending(3), 7);
  std::vector<Flow> good;
  for (const Schedule& schedule : schedules) good.push_back(Derive(schedule));
  for (std::size_t rank = 0; rank < good.size(); ++rank) {
    for (std::size_t step = 0; step < good[rank].steps.size(); ++step) {
      if (good[rank].DependenciesOf(good[rank].steps[step]).empty()) continue;
      std::vector<Flow> bad = good;
      bad[rank].steps[step].dependencies_end = bad[rank].steps[step].dependencies_begin;
      std::size_t found = 0;
      for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Status status = ProveAllReduce(schedules, bad, {.seed = seed, .link_capacity = 100});
        if (status.ok()) continue;
        ++found;
        EXPECT_THAT(status.error().message, HasSubstr("out of turn"));
      }
      // What a rank sends last comes back changed only when everybody has it: no order of events
      // lets that overtake, and the dependency costs nothing.
      const bool can_overtake = good[rank].steps[step].kind != StepKind::kReceive;
      EXPECT_EQ(found > 0, can_overtake) << "rank " << rank << " step " << step;
    }
  }
}

TEST(ProveAllReduce, AnExchangeOfWholeBuffersNeedsRoomOnTheLink) {
  const std::vector<Schedule> exchange = {
      {.count = 4, .steps = {SendTo(1, {0, 4}), SumFrom(1, {0, 4})}},
      {.count = 4, .steps = {SendTo(0, {0, 4}), SumFrom(0, {0, 4})}}};
  EXPECT_FALSE(ProveAllReduce(exchange, {.link_capacity = 0}).ok());
  EXPECT_TRUE(ProveAllReduce(exchange, {.link_capacity = 1}).ok());
}

TEST(ProveAllReduce, TakesNoMoreRanksThanItHasBits) {
  EXPECT_FALSE(ProveAllReduce(Ring(Ascending(65), 1), {}).ok());
  EXPECT_FALSE(ProveAllReduce({}, {}).ok());
}

}  // namespace
}  // namespace ringlet::collective
