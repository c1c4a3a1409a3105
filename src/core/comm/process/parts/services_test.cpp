#include "comm/process/parts/services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/run/no_threads_for_test.hpp"
#include "discovery/placement.hpp"
#include "os/process/remote_fence.hpp"

namespace ringlet::comm {
namespace {

TEST(Services, TheServiceThreadRunsPostedWork) {
  const auto process = *Process::Start({});
  std::promise<std::thread::id> where;
  process->driver().Post([&] { where.set_value(std::this_thread::get_id()); });
  EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
}

/// Runs `ask` on the service thread.
template <typename T>
T OnServiceThread(Process& process, const std::function<T()>& ask) {
  std::promise<T> answer;
  process.driver().Post([&] { answer.set_value(ask()); });
  return answer.get_future().get();
}

TEST(Services, TheServiceThreadMovesNearItsRanksAndTheCallerStays) {
  const auto process = *Process::Start({});
  const std::function<topology::CpuSet()> allowed = [&] {
    return discovery::AllowedCpus(process->files()).value();
  };
  const topology::CpuSet before = allowed();
  ASSERT_FALSE(before.empty());
  const std::uint32_t first = before.ranges().front().first;
  const std::uint32_t last = before.ranges().back().last;
  EXPECT_EQ(OnServiceThread(*process, allowed), before);
  process->services().MoveServicesNear({}, 0);
  EXPECT_EQ(OnServiceThread(*process, allowed), before) << "nowhere to go";
  const topology::CpuSet one = topology::CpuSet::Of(first, first);
  process->services().MoveServicesNear(one, 0);
  EXPECT_EQ(OnServiceThread(*process, allowed), one);
  EXPECT_EQ(allowed(), before);
  const topology::CpuSet other = topology::CpuSet::Of(last, last);
  process->services().MoveServicesNear(other, 0);
  EXPECT_EQ(OnServiceThread(*process, allowed), one.JoinedWith(other)) << "of both ranks";
  EXPECT_EQ(allowed(), before);
}

std::vector<Services::ServiceSlot> ReserveServices(Process& process, std::uint32_t count) {
  std::vector<Services::ServiceSlot> slots;
  for (std::uint32_t i = 0; i < count; ++i) slots.push_back(process.services().ReserveService());
  return slots;
}

TEST(Services, ManyRanksHaveSeveralServiceThreadsNearThem) {
  const auto process = *Process::Start({});
  if (process->facts().usable_cores < 2) GTEST_SKIP() << "one core";
  const std::uint32_t cpu = discovery::AllowedCpus(process->files())->ranges().front().first;
  process->services().MoveServicesNear(topology::CpuSet::Of(cpu, cpu), 0);
  auto slots = ReserveServices(*process, kRanksOfAThread);
  EXPECT_EQ(&slots.back().service.driver(), &process->driver());
  const Services::ServiceSlot other = process->services().ReserveService();
  ASSERT_NE(&other.service.driver(), &process->driver());
  std::promise<topology::CpuSet> where;
  other.service.driver().Post(
      [&] { where.set_value(discovery::AllowedCpus(process->files()).value()); });
  EXPECT_EQ(where.get_future().get(), topology::CpuSet::Of(cpu, cpu))
      << "told of it before it came";
  slots.clear();
  EXPECT_EQ(&process->services().ReserveService().service.driver(), &process->driver())
      << "there is room again";
}

TEST(Services, FewRanksShareASingleServiceThread) {
  const auto process = *Process::Start({});
  for (const Services::ServiceSlot& slot : ReserveServices(*process, kRanksOfAThread))
    EXPECT_EQ(&slot.service.driver(), &process->driver());
}

TEST(Services, ExistingThreadsServeMoreRanksIfNoThreadStarts) {
  const auto process = *Process::Start({});
  if (process->facts().usable_cores < 2) GTEST_SKIP() << "one core";
  const auto slots = ReserveServices(*process, kRanksOfAThread);
  const NoThreadsStart limit;
  EXPECT_FALSE(Process::Start({}).ok());
  EXPECT_EQ(&process->services().ReserveService().service.driver(), &process->driver());
}

TEST(Services, JoinsRemoteFencesAfterItsDelay) {
  {
    const auto process = *Process::Start({});
    process->services().JoinRemoteFences();
    process->services().JoinRemoteFences();
    std::promise<void> passed;
    process->driver().PostAfter(Services::kFencesAfter, [&] { passed.set_value(); });
    passed.get_future().wait();
  }
  EXPECT_EQ(os::HasJoinedRemoteFences(), os::JoinRemoteFences());
}

TEST(Services, CountersSumAllServiceThreads) {
  const auto process = *Process::Start({});
  if (process->facts().usable_cores < 2) GTEST_SKIP() << "one core";
  const auto slots = ReserveServices(*process, kRanksOfAThread + 1);
  constexpr int kTurns = 100;  // each costs the other thread a call at least
  for (int i = 0; i < kTurns; ++i) {
    std::promise<void> turn;
    slots.back().service.driver().Post([&] { turn.set_value(); });
    turn.get_future().wait();
  }
  const std::function<std::uint64_t()> own = [&] {
    return process->driver().counters().system_calls;
  };
  const std::uint64_t first = OnServiceThread(*process, own);
  EXPECT_GE(process->services().ReadCounters().system_calls, first + kTurns);
}

TEST(Roots, UnusedIdsAreBounded) {
  const auto process = ProcessWith({{"RINGLET_INIT_TIMEOUT", "1"}});
  const UniqueId first = *CreateUniqueId(process);
  UniqueId last;
  for (std::size_t i = 0; i < Roots::kUnusedMax; ++i) last = *CreateUniqueId(process);
  EXPECT_EQ(process->services().endpoints().size(), 1u);
  const auto forgotten = Establish(process, {.id = first, .rank = 0, .size = 1}, {});
  ASSERT_FALSE(forgotten.ok());
  EXPECT_THAT(forgotten.error().message, testing::HasSubstr("another communicator"));
  EXPECT_TRUE(Establish(process, {.id = last, .rank = 0, .size = 1}, {}).ok());
}

}  // namespace
}  // namespace ringlet::comm
