#include "sim/interpreter/interpreter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/value/prng.hpp"
#include "collective/algorithm/ring.hpp"

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

std::vector<Rank> CountedRanks(std::size_t ranks) {
  std::vector<Rank> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Rank{i});
  return order;
}

std::vector<Rank> Rotated(std::size_t ranks, std::size_t by) {
  std::vector<Rank> order = CountedRanks(ranks);
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(by % ranks), order.end());
  return order;
}

std::vector<Rank> ShuffledBySeed(std::size_t ranks, std::uint64_t seed) {
  std::vector<Rank> order = CountedRanks(ranks);
  Prng prng(seed);
  for (std::size_t i = ranks; i > 1; --i) std::swap(order[i - 1], order[prng.Below(i)]);
  return order;
}

/// Proves an all-reduce of the schedules' number of elements.
Status ProveAllReduce(const std::vector<Schedule>& schedules, const ProofOptions& options) {
  const std::size_t count = schedules.empty() ? 0 : schedules.front().input_count;
  return Prove({.count = count}, schedules, options);
}

std::vector<Schedule> Ring(const std::vector<Rank>& order, std::size_t count) {
  std::vector<Schedule> schedules;
  for (const Rank rank : CountedRanks(order.size())) {
    schedules.push_back(RingAllReduce(order, rank, count));
  }
  return schedules;
}

/// Returns the complaint about `schedules`, or "" if no seed finds one.
std::string Complaint(const std::vector<Schedule>& schedules) {
  for (const std::size_t capacity : {0u, 1u, 5u, 1000u}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (const bool in_place : {false, true}) {
        const Status status = ProveAllReduce(
            schedules, {.seed = seed, .link_capacity = capacity, .in_place = in_place});
        if (!status.ok()) return status.error().message;
      }
    }
  }
  return {};
}

TEST(Prove, AcceptsRingsOfEverySize) {
  // Every size to 16, then some, because the sizes between do not differ.
  for (std::size_t n = 1; n <= kProvableRanksMax; n += n < 16 ? 1 : 12) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, 3 * n + 1, std::size_t{97}}) {
      const std::vector<Rank> orders[] = {CountedRanks(n), Rotated(n, n / 2 + 1),
                                          ShuffledBySeed(n, n)};
      for (const std::vector<Rank>& order : orders) {
        const ProofOptions options{
            .seed = n * 1000 + count, .link_capacity = count % 4, .in_place = count % 2 == 0};
        const Status status = ProveAllReduce(Ring(order, count), options);
        ASSERT_TRUE(status.ok()) << n << " ranks, " << count << " elements, seed " << options.seed
                                 << ": " << status.error().message;
      }
    }
  }
}

TEST(Prove, AcceptsSmallRingsInManyOrdersOfEvents) {
  for (std::size_t n = 2; n <= 5; ++n) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const ProofOptions options{
          .seed = seed, .link_capacity = seed % 5, .slice_max = seed % 3 + 1};
      const Status status = ProveAllReduce(Ring(ShuffledBySeed(n, seed), 2 * n + 1), options);
      ASSERT_TRUE(status.ok()) << n << " ranks, seed " << seed << ": " << status.error().message;
    }
  }
}

/// Returns the first element that a step of a ring touches, in any buffer.
std::size_t Begin(const Step& step) {
  return Writes(step.kind) ? step.to.begin : step.from.begin;
}

// ---- Every way of breaking a schedule is noticed ------------------------------------------------

/// Applies `change` to every step of every rank in turn and expects a complaint each time. A change
/// returns false if it does not apply to a step.
void ExpectAllCaught(const std::function<bool(Schedule&, std::size_t step)>& change) {
  for (const std::size_t n : {2u, 3u, 5u}) {
    const std::vector<Schedule> good = Ring(ShuffledBySeed(n, 7), 3 * n + 1);
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
      if (Begin(schedule.steps[i]) != Begin(schedule.steps[j])) continue;
      std::swap(schedule.steps[i], schedule.steps[j]);
      return true;
    }
    return false;
  });
}

TEST(Mutations, AChangedRangeIsNoticed) {
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    Step& step = schedule.steps[i];
    std::size_t& begin = Writes(step.kind) ? step.to.begin : step.from.begin;
    begin += begin == 0 ? 1 : std::size_t(-1);
    return true;
  });
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    --schedule.steps[i].count;
    return true;
  });
  ExpectAllCaught([](Schedule& schedule, std::size_t i) {
    ++schedule.steps[i].count;
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
    kind = kind == StepKind::kReceive ? StepKind::kReceiveReduce : StepKind::kReceive;
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

/// All-reduces of four elements by hand.
Schedule Four() {
  return {.input_count = 4, .output_count = 4};
}
void SendTo(Schedule& schedule, std::uint32_t peer, Place from) {
  schedule.Send(Rank{peer}, from, 4);
}
void SumFrom(Schedule& schedule, std::uint32_t peer, Place from) {
  schedule.ReceiveReduce(Rank{peer}, from, Output(), 4).finishes = true;
}

TEST(Prove, NamesRankStepAndElement) {
  std::vector<Schedule> schedules = Ring(CountedRanks(3), 6);
  schedules[1].steps[3].finishes = false;
  EXPECT_THAT(Complaint(schedules), HasSubstr("element"));
  EXPECT_THAT(Complaint(schedules), HasSubstr("never finished"));

  schedules = Ring(CountedRanks(3), 6);
  schedules[2].steps[1].count = 1;
  EXPECT_THAT(Complaint(schedules),
              HasSubstr("meets rank 2, step 1 (receive 1 elements from rank 1 on channel 0, "
                        "reduced with input 2 into output 2): the counts differ"));
}

TEST(Prove, FindsADeadlockOfTwoRanksThatBothReceiveFirst) {
  std::vector<Schedule> waiting(2, Four());
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    SumFrom(waiting[rank], 1 - rank, Input());
    SendTo(waiting[rank], 1 - rank, Output());
  }
  EXPECT_THAT(Complaint(waiting), HasSubstr("deadlock: rank 0, step 0"));
}

TEST(Prove, NamesARankThatIsCountedTwice) {
  std::vector<Schedule> doubled(2, Four());
  SendTo(doubled[0], 1, Input());
  SendTo(doubled[0], 1, Input());
  SumFrom(doubled[0], 1, Input());
  SumFrom(doubled[1], 0, Input());
  doubled[1].steps.back().finishes = false;
  SumFrom(doubled[1], 0, Output());
  SendTo(doubled[1], 0, Output());
  EXPECT_THAT(
      Complaint(doubled),
      HasSubstr("rank 1, step 1 (receive 4 elements from rank 0 on channel 0, reduced with "
                "output 0 into output 0, finishes): element 0 would count ranks {0} twice"));
}

TEST(Prove, NamesUnreceivedAndMissingMessages) {
  std::vector<Schedule> left_over(2, Four());
  SendTo(left_over[0], 1, Input());
  EXPECT_EQ(Complaint(left_over),
            "rank 0, step 0 (send 4 elements at input 0 to rank 1 on channel 0) is never received");
  std::vector<Schedule> missing(2, Four());
  SumFrom(missing[0], 1, Input());
  EXPECT_THAT(Complaint(missing), HasSubstr("waits for data that no rank sends"));
}

TEST(Prove, NamesAnElementThatIsReadBeforeItIsWritten) {
  std::vector<Schedule> schedules(2, Four());
  SendTo(schedules[0], 1, Output());
  SumFrom(schedules[1], 0, Input());
  EXPECT_THAT(Complaint(schedules), HasSubstr("element 0 is read before it is written"));
}

TEST(Prove, FindsTheHazardOfEachRemovedDependency) {
  // Every dependency of every step is necessary: without it some order of events is wrong.
  const std::vector<Schedule> schedules = Ring(CountedRanks(3), 7);
  std::vector<Flow> good;
  for (const Schedule& schedule : schedules) good.push_back(Derive(schedule));
  for (std::size_t rank = 0; rank < good.size(); ++rank) {
    for (std::size_t step = 0; step < good[rank].steps.size(); ++step) {
      if (good[rank].DependenciesOf(good[rank].steps[step]).empty()) continue;
      std::vector<Flow> bad = good;
      bad[rank].steps[step].dependencies_end = bad[rank].steps[step].dependencies_begin;
      std::size_t found = 0;
      for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Status status =
            Prove({.count = 7}, schedules, bad, {.seed = seed, .link_capacity = 100});
        if (status.ok()) continue;
        ++found;
        EXPECT_THAT(status.error().message, HasSubstr("out of turn"));
      }
      // The last data that a rank sends returns changed only after all ranks have them. No order of
      // events lets that overtake, and the dependency costs nothing.
      const bool can_overtake = good[rank].steps[step].step.kind != StepKind::kReceive;
      EXPECT_EQ(found > 0, can_overtake) << "rank " << rank << " step " << step;
    }
  }
}

TEST(Prove, AnExchangeInPlaceNeedsCapacityOfTheLink) {
  std::vector<Schedule> exchange(2, Four());
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    SendTo(exchange[rank], 1 - rank, Input());
    SumFrom(exchange[rank], 1 - rank, Input());
    exchange[rank].steps.back().swapped = rank == 1;
  }
  EXPECT_FALSE(ProveAllReduce(exchange, {.link_capacity = 0, .in_place = true}).ok());
  EXPECT_TRUE(ProveAllReduce(exchange, {.link_capacity = 1, .in_place = true}).ok());
  EXPECT_TRUE(ProveAllReduce(exchange, {.link_capacity = 0}).ok());
}

TEST(Prove, LinksHoldExactlyTheirCapacity) {
  // Rank 1 takes nothing from rank 0 before data of rank 2 arrives. Rank 0 sends to rank 2 only
  // after four elements have left for rank 1.
  std::vector<Schedule> schedules(3, Four());
  schedules[0].scratch_count = 4;
  schedules[0].Copy(Input(), Output(), 4);
  schedules[0].Copy(Input(), Scratch(), 4);
  schedules[0].Send(Rank{1}, Scratch(), 4);
  schedules[0].Copy(Input(0), Scratch(3), 1);
  schedules[0].Send(Rank{2}, Scratch(3), 1);
  schedules[0].Send(Rank{2}, Input(1), 3);
  schedules[1].input_count = schedules[2].input_count = 0;
  schedules[1].Receive(Rank{2}, Output(), 1);
  schedules[1].Receive(Rank{0}, Output(), 4);
  schedules[2].Receive(Rank{0}, Output(), 1);
  schedules[2].Send(Rank{1}, Output(), 1);
  schedules[2].Receive(Rank{0}, Output(1), 3);
  const Call call{.kind = CallKind::kBroadcast, .count = 4};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Status narrow = Prove(call, schedules, {.seed = seed, .link_capacity = 3});
    ASSERT_FALSE(narrow.ok()) << "seed " << seed;
    EXPECT_THAT(narrow.error().message, HasSubstr("deadlock")) << "seed " << seed;
    const Status wide = Prove(call, schedules, {.seed = seed, .link_capacity = 4});
    EXPECT_TRUE(wide.ok()) << "seed " << seed << ": " << wide.error().message;
  }
}

TEST(Prove, NamesARankThatAddsInAnotherOrder) {
  std::vector<Schedule> exchange(2, Four());
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    SendTo(exchange[rank], 1 - rank, Input());
    SumFrom(exchange[rank], 1 - rank, Input());
  }
  const Status status = ProveAllReduce(exchange, {.link_capacity = 4});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "rank 1 ends with element 0 added up in another order than rank 0");
}

TEST(Prove, ABarrierNeedsAContributionOfEachRank) {
  const auto barrier = [](std::uint32_t rank, std::uint32_t ahead) {
    Schedule schedule{.input_count = 1, .output_count = 1, .scratch_count = 1};
    schedule.Copy(Input(), Scratch(), 1);
    schedule.Send(Rank{(rank + ahead) % 3}, Scratch(), 1);
    schedule.ReceiveReduce(Rank{(rank + 3 - ahead) % 3}, Scratch(), Output(), 1);
    return schedule;
  };
  // One round among three ranks: each lacks one.
  const Call call{.kind = CallKind::kBarrier, .count = 1};
  const std::vector<Schedule> one = {barrier(0, 1), barrier(1, 1), barrier(2, 1)};
  const Status status = Prove(call, one, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "rank 0 ends with element 0 lacking ranks {1}");
}

TEST(Prove, RefusesMoreRanksThanItHasBits) {
  EXPECT_FALSE(ProveAllReduce(Ring(CountedRanks(65), 1), {}).ok());
  EXPECT_FALSE(ProveAllReduce({}, {}).ok());
}

}  // namespace
}  // namespace ringlet::collective
