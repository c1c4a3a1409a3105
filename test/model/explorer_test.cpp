// Compares the explorer with known facts of the memory model, and with itself unreduced.
#include "explorer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include "base/value/prng.hpp"

namespace ringlet::model {
namespace {

using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

using Threads = std::vector<std::function<void()>>;
using Value = std::atomic<int>;

struct Shared {
  Value x{0}, y{0};
  int data = 0;
};
Shared shared;
std::array<int, 8> seen;

class Litmus : public testing::Test {
 public:
  Litmus() { SharedMemory().Share("shared", &shared, sizeof shared); }
  ~Litmus() override { SharedMemory().Forget(); }

 protected:
  // Returns all observable outcomes, as "x,y,...".
  std::set<std::string> Outcomes(Threads threads, int values, bool reduced = true) {
    std::set<std::string> outcomes;
    const Scenario scenario{.name = "litmus",
                            .begin =
                                [] {
                                  shared.x = shared.y = 0;
                                  shared.data = 0;
                                  seen = {};
                                },
                            .threads = std::move(threads),
                            .end =
                                [&] {
                                  std::string text;
                                  for (int i = 0; i < values; ++i)
                                    text += std::to_string(seen[static_cast<std::size_t>(i)]);
                                  outcomes.insert(text);
                                  return std::string();
                                }};
    report_ = Explore(scenario, {.reduced = reduced});
    EXPECT_EQ(report_.bug, "");
    EXPECT_TRUE(report_.exhausted);
    return outcomes;
  }
  std::string Bug(Threads threads) {
    const Scenario scenario{.name = "litmus",
                            .begin =
                                [] {
                                  shared.x = shared.y = 0;
                                  shared.data = 0;
                                },
                            .threads = std::move(threads),
                            .end = {}};
    return Explore(scenario).bug;
  }
  Report report_;
};

using Set = std::set<std::string>;

Threads StoreBuffering(memory_order order) {
  return {[=] {
            shared.x.store(1, order);
            seen[0] = shared.y.load(order == memory_order_release ? memory_order_acquire : order);
          },
          [=] {
            shared.y.store(1, order);
            seen[1] = shared.x.load(order == memory_order_release ? memory_order_acquire : order);
          }};
}
TEST_F(Litmus, StoresAreBufferedUnlessSequentiallyConsistent) {
  EXPECT_EQ(Outcomes(StoreBuffering(memory_order_relaxed), 2), (Set{"00", "01", "10", "11"}));
  EXPECT_EQ(report_.executions, 4u);
  EXPECT_EQ(Outcomes(StoreBuffering(memory_order_release), 2), (Set{"00", "01", "10", "11"}));
  EXPECT_EQ(Outcomes(StoreBuffering(memory_order_seq_cst), 2), (Set{"01", "10", "11"}));
  EXPECT_EQ(report_.executions, 3u);
}

Threads Message(memory_order store, memory_order load) {
  return {[=] {
            shared.x.store(1, memory_order_relaxed);
            shared.y.store(1, store);
          },
          [=] {
            seen[0] = shared.y.load(load);
            seen[1] = shared.x.load(memory_order_relaxed);
          }};
}
TEST_F(Litmus, ReleaseAndAcquirePassAMessage) {
  EXPECT_EQ(Outcomes(Message(memory_order_release, memory_order_acquire), 2),
            (Set{"00", "01", "11"}));
  EXPECT_EQ(Outcomes(Message(memory_order_relaxed, memory_order_acquire), 2),
            (Set{"00", "01", "10", "11"}));
  EXPECT_EQ(Outcomes(Message(memory_order_release, memory_order_relaxed), 2),
            (Set{"00", "01", "10", "11"}));
}

TEST_F(Litmus, ReadsOfOneLocationAreCoherent) {
  const auto outcomes = Outcomes({[] {
                                    shared.x.store(1, memory_order_relaxed);
                                    shared.x.store(2, memory_order_relaxed);
                                  },
                                  [] {
                                    seen[0] = shared.x.load(memory_order_relaxed);
                                    seen[1] = shared.x.load(memory_order_relaxed);
                                  }},
                                 2);
  EXPECT_EQ(outcomes, (Set{"00", "01", "02", "11", "12", "22"}));
}

Threads IndependentReads(memory_order store, memory_order load) {
  return {[=] { shared.x.store(1, store); }, [=] { shared.y.store(1, store); },
          [=] {
            seen[0] = shared.x.load(load);
            seen[1] = shared.y.load(load);
          },
          [=] {
            seen[2] = shared.y.load(load);
            seen[3] = shared.x.load(load);
          }};
}
TEST_F(Litmus, OnlySequentialConsistencyOrdersIndependentStores) {
  EXPECT_EQ(Outcomes(IndependentReads(memory_order_release, memory_order_acquire), 4).size(), 16u);
  const Set outcomes = Outcomes(IndependentReads(memory_order_seq_cst, memory_order_seq_cst), 4);
  EXPECT_EQ(outcomes.size(), 15u);
  EXPECT_FALSE(outcomes.contains("1010"));
}

// A relaxed load may see a value stored after a sequentially consistent store, and a later
// sequentially consistent load may miss that store. So the single order is not the order of
// execution.
TEST_F(Litmus, TheSingleOrderIsNotTheOrderOfExecution) {
  const auto reader = [](memory_order first) {
    return Threads{[] {
                     shared.x.store(1, memory_order_seq_cst);
                     shared.y.store(1, memory_order_relaxed);
                   },
                   [=] {
                     seen[0] = shared.y.load(first);
                     seen[1] = shared.x.load(memory_order_seq_cst);
                   }};
  };
  EXPECT_TRUE(Outcomes(reader(memory_order_relaxed), 2).contains("10"));
}

TEST_F(Litmus, AdditionsAreNeverLost) {
  const auto add = [] { shared.x.fetch_add(1, memory_order_relaxed); };
  const auto outcomes = Outcomes({add, add, [] { seen[0] = shared.x.load(); }}, 1);
  EXPECT_EQ(outcomes, (Set{"0", "1", "2"}));
  EXPECT_EQ(shared.x.load(), 2);
}

TEST_F(Litmus, ExactlyOneOfTwoComparisonsSucceeds) {
  const auto take = [](std::size_t place, int value) {
    return [=] {
      int expected = 0;
      seen[place] = shared.x.compare_exchange_strong(expected, value) ? 7 : expected;
    };
  };
  EXPECT_EQ(Outcomes({take(0, 1), take(1, 2)}, 2), (Set{"71", "27"}));
}

TEST_F(Litmus, FindsADataRace) {
  const auto writer = [](memory_order order) {
    return [=] {
      shared.data = 1;
      shared.x.store(1, order);
    };
  };
  const auto reader = [] {
    if (shared.x.load(memory_order_acquire) == 1) seen[0] = shared.data;
  };
  EXPECT_EQ(Bug({writer(memory_order_release), reader}), "");
  EXPECT_THAT(Bug({writer(memory_order_relaxed), reader}), testing::HasSubstr("data race"));
}

TEST_F(Litmus, LocksAreTakenInEveryOrder) {
  static std::mutex mutex;
  const auto take = [](std::size_t place) {
    return [=] {
      const std::lock_guard lock(mutex);
      seen[place] = ++shared.data;
    };
  };
  EXPECT_EQ(Outcomes({take(0), take(1)}, 2), (Set{"12", "21"}));
  EXPECT_EQ(Outcomes({take(0), take(1), take(2)}, 3).size(), 6u);
}

// ---- the reductions -----------------------------------------------------------------------------

// Draws a few operations; they append the values read to `seen`.
std::function<void()> DrawnThread(Prng& prng, int operations, std::size_t first) {
  struct Step {
    std::uint64_t what;
    bool x;
    memory_order order;
    int value;
  };
  std::vector<Step> steps;
  constexpr memory_order kOrders[] = {memory_order_relaxed, memory_order_acq_rel,
                                      memory_order_seq_cst, memory_order_seq_cst};
  for (int i = 0; i < operations; ++i)
    steps.push_back({prng.Below(5), prng.Below(2) == 0, kOrders[prng.Below(4)],
                     static_cast<int>(prng.Below(3)) + 1});
  return [=] {
    std::size_t at = first;
    for (const Step& step : steps) {
      Value& value = step.x ? shared.x : shared.y;
      const bool half = step.order == memory_order_acq_rel;
      const memory_order load = half ? memory_order_acquire : step.order;
      const memory_order store = half ? memory_order_release : step.order;
      int expected = step.value - 1;
      switch (step.what) {
        case 0: value.store(step.value, store); break;
        case 1: seen[at++] = value.exchange(step.value, step.order); break;
        case 2:
          value.compare_exchange_strong(expected, step.value + 3, step.order, load);
          seen[at++] = expected;
          break;
        default: seen[at++] = value.load(load);
      }
    }
  };
}

TEST_F(Litmus, ReductionsKeepAllOutcomes) {
  std::uint64_t full = 0, reduced = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Prng prng(seed);
    Threads threads{DrawnThread(prng, 3, 0), DrawnThread(prng, 3, 3)};
    if (seed % 2 == 0) threads.push_back(DrawnThread(prng, 1, 6));
    const Set quick = Outcomes(threads, 7);
    reduced += report_.executions + report_.cut;
    const Set all = Outcomes(threads, 7, false);
    full += report_.executions;
    ASSERT_EQ(quick, all);
  }
  RecordProperty("executions", static_cast<int>(reduced));
  EXPECT_LT(reduced, full / 5);
}

}  // namespace
}  // namespace ringlet::model
