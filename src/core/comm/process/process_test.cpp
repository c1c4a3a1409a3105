#include "comm/process/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>

#include "comm/run/no_threads_for_test.hpp"
#include "discovery/placement.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "os/process/limits.hpp"
#include "os/process/remote_fence.hpp"

namespace ringlet::comm {
namespace {

TEST(Process, NamesAWrongSetting) {
  const auto process = Process::Start({{"RINGLET_TREE_ARITY", "many"}});
  ASSERT_FALSE(process.ok());
  EXPECT_EQ(process.error().code, Code::kInvalidArgument);
  EXPECT_THAT(process.error().message,
              testing::AllOf(testing::HasSubstr("RINGLET_TREE_ARITY"), testing::HasSubstr("many")));
}

TEST(Process, NamesAnUnavailableCongestionControlAtItsStart) {
  const auto process = Process::Start({{"RINGLET_TCP_CONGESTION", "no_such"}});
  ASSERT_FALSE(process.ok());
  EXPECT_EQ(process.error().code, Code::kInvalidArgument);
  EXPECT_THAT(process.error().message, testing::AllOf(testing::HasSubstr("RINGLET_TCP_CONGESTION"),
                                                      testing::HasSubstr("no_such")));
}

TEST(Process, HostIdReplacesTheHostsIdentity) {
  const auto a = *Process::Start({{"NCCL_HOSTID", "rack1"}});
  const auto b = *Process::Start({{"RINGLET_HOSTID", "rack1"}});
  const auto c = *Process::Start({});
  EXPECT_EQ(a->host_hash(), b->host_hash());
  EXPECT_NE(a->host_hash(), c->host_hash());
  EXPECT_NE(a->process_hash(), b->process_hash());
}

TEST(Process, NamesAMissingInterface) {
  const auto process = *Process::Start({{"NCCL_SOCKET_IFNAME", "nosuch0"}});
  const auto addresses = process->ReachableAddresses();
  ASSERT_FALSE(addresses.ok());
  EXPECT_THAT(addresses.error().message, testing::HasSubstr("nosuch0"));
}

TEST(Process, TheSettingCanSelectLoopback) {
  const auto process =
      *Process::Start({{"NCCL_SOCKET_IFNAME", "lo"}, {"NCCL_SOCKET_FAMILY", "AF_INET"}});
  const auto addresses = process->ReachableAddresses();
  ASSERT_TRUE(addresses.ok()) << addresses.error().message;
  ASSERT_EQ(addresses->size(), 1u);
  EXPECT_TRUE(addresses->front().IsLoopback());
}

TEST(Process, TheServiceThreadRunsPostedWork) {
  const auto process = *Process::Start({});
  std::promise<std::thread::id> where;
  process->driver().Post([&] { where.set_value(std::this_thread::get_id()); });
  EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
}

TEST(Process, NamesAnInvalidPathSettingAtItsStart) {
  const auto process = Process::Start({{"RINGLET_P2P_LEVEL", "near"}});
  ASSERT_FALSE(process.ok());
  EXPECT_THAT(process.error().message,
              testing::AllOf(testing::HasSubstr("RINGLET_P2P_LEVEL"), testing::HasSubstr("near")));
}

/// Runs `ask` on the service thread.
template <typename T>
T OnServiceThread(Process& process, const std::function<T()>& ask) {
  std::promise<T> answer;
  process.driver().Post([&] { answer.set_value(ask()); });
  return answer.get_future().get();
}

TEST(Process, TheServiceThreadMovesNearItsRanksAndTheCallerStays) {
  const auto process = *Process::Start({});
  const std::function<topology::CpuSet()> allowed = [&] {
    return discovery::AllowedCpus(process->files()).value();
  };
  const topology::CpuSet before = allowed();
  ASSERT_FALSE(before.empty());
  const std::uint32_t first = before.ranges().front().first;
  const std::uint32_t last = before.ranges().back().last;
  EXPECT_EQ(OnServiceThread(*process, allowed), before);
  process->MoveServicesNear({}, 0);
  EXPECT_EQ(OnServiceThread(*process, allowed), before) << "nowhere to go";
  const topology::CpuSet one = topology::CpuSet::Of(first, first);
  process->MoveServicesNear(one, 0);
  EXPECT_EQ(OnServiceThread(*process, allowed), one);
  EXPECT_EQ(allowed(), before);
  const topology::CpuSet other = topology::CpuSet::Of(last, last);
  process->MoveServicesNear(other, 0);
  EXPECT_EQ(OnServiceThread(*process, allowed), one.JoinedWith(other)) << "of both ranks";
  EXPECT_EQ(allowed(), before);
}

std::vector<Process::ServiceSlot> ReserveServices(Process& process, std::uint32_t count) {
  std::vector<Process::ServiceSlot> slots;
  for (std::uint32_t i = 0; i < count; ++i) slots.push_back(process.ReserveService());
  return slots;
}

TEST(Process, APreparedProcessIsServedByItsBorrowerThenByItsThread) {
  const auto process = *Process::PrepareHere();
  const auto tell = [&] {
    auto told = std::make_shared<std::promise<std::thread::id>>();
    process->driver().Post([told] { told->set_value(std::this_thread::get_id()); });
    return told->get_future().share();
  };
  const auto ready = [](const auto& future) {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  const auto before = discovery::AllowedCpus(process->files()).value();
  auto lease = process->Borrow(2);
  process->MoveServicesNear(topology::CpuSet::Of(0, 0), 0);
  const auto answer = tell();
  process->driver().RunUntil([&] { return ready(answer); },
                             os::SocketDriver::Now() + std::chrono::seconds(60));
  ASSERT_TRUE(ready(answer));
  EXPECT_EQ(answer.get(), std::this_thread::get_id());
  EXPECT_EQ(discovery::AllowedCpus(process->files()).value(), before)
      << "the borrower stays where it is";
  EXPECT_TRUE(lease.End().ok());
  const auto later = tell();
  ASSERT_EQ(later.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_NE(later.get(), std::this_thread::get_id());
}

TEST(Process, RanksSpinIfEachHasACoreUnlessTheSettingForbidsIt) {
  const auto process = *Process::Start({});
  EXPECT_TRUE(process->MaySpin(process->usable_cores()));
  EXPECT_FALSE(process->MaySpin(process->usable_cores() + 1));
  EXPECT_FALSE((*Process::Start({{"RINGLET_WAIT", "sleep"}}))->MaySpin(1));
  EXPECT_FALSE((*Process::Start({{"RINGLET_WAIT", "yield"}}))->MaySpin(1));
  EXPECT_TRUE((*Process::Start({{"RINGLET_WAIT", "spin"}}))->MaySpin(100'000));
}

TEST(Process, ManyRanksHaveSeveralServiceThreadsNearThem) {
  const auto process = *Process::Start({});
  if (process->usable_cores() < 2) GTEST_SKIP() << "one core";
  const std::uint32_t cpu = discovery::AllowedCpus(process->files())->ranges().front().first;
  process->MoveServicesNear(topology::CpuSet::Of(cpu, cpu), 0);
  auto slots = ReserveServices(*process, kRanksOfAThread);
  EXPECT_EQ(&slots.back().service.driver(), &process->driver());
  const Process::ServiceSlot other = process->ReserveService();
  ASSERT_NE(&other.service.driver(), &process->driver());
  std::promise<topology::CpuSet> where;
  other.service.driver().Post(
      [&] { where.set_value(discovery::AllowedCpus(process->files()).value()); });
  EXPECT_EQ(where.get_future().get(), topology::CpuSet::Of(cpu, cpu))
      << "told of it before it came";
  slots.clear();
  EXPECT_EQ(&process->ReserveService().service.driver(), &process->driver())
      << "there is room again";
}

TEST(Process, FewRanksShareASingleServiceThread) {
  const auto process = *Process::Start({});
  for (const Process::ServiceSlot& slot : ReserveServices(*process, kRanksOfAThread))
    EXPECT_EQ(&slot.service.driver(), &process->driver());
}

TEST(Process, RanksOfACommunicatorFindEachOthersBuffers) {
  const auto process = *Process::Start({});
  const Secret one{std::byte{1}}, other{std::byte{2}};
  auto buffers = process->InProcessBuffersOf(one, 2);
  EXPECT_EQ(process->InProcessBuffersOf(one, 2), buffers);
  EXPECT_NE(process->InProcessBuffersOf(other, 2), buffers);
  const std::weak_ptr<collective::InProcessBuffers> known = buffers;
  buffers.reset();
  EXPECT_TRUE(known.expired()) << "they are its ranks'";
  EXPECT_TRUE(process->InProcessBuffersOf(one, 2));
}

TEST(Process, LogsEachWarningOnce) {
  os::TempTree tree;
  const auto process =
      *Process::Start({{"RINGLET_DEBUG", "WARN"}, {"RINGLET_DEBUG_FILE", tree.At("log")}});
  for (const char* text : {"it rains", "it snows", "it rains"}) process->WarnOnce(text);
  const std::string log = os::FileTree::Open(tree.root())->Read("log").value();
  EXPECT_THAT(log, testing::HasSubstr("it snows"));
  EXPECT_NE(log.find("it rains"), log.npos);
  EXPECT_EQ(log.find("it rains"), log.rfind("it rains"));
}

TEST(Process, BoundsTheDescriptorsOfUnauthenticatedCallers) {
  const auto process = *Process::Start({});
  EXPECT_EQ(process->HalfOpenMax(1), 1u);
  EXPECT_EQ(process->HalfOpenMax(0x7fffffff), os::RaiseDescriptorLimit() / 8);
}

TEST(Process, ExistingThreadsServeMoreRanksIfNoThreadStarts) {
  const auto process = *Process::Start({});
  if (process->usable_cores() < 2) GTEST_SKIP() << "one core";
  const auto slots = ReserveServices(*process, kRanksOfAThread);
  const NoThreadsStart limit;
  EXPECT_FALSE(Process::Start({}).ok());
  EXPECT_EQ(&process->ReserveService().service.driver(), &process->driver());
}

TEST(Process, JoinsRemoteFencesAfterItsDelay) {
  {
    const auto process = *Process::Start({});
    process->JoinRemoteFences();
    process->JoinRemoteFences();
    std::promise<void> passed;
    process->After(Process::kFencesAfter, [&] { passed.set_value(); });
    passed.get_future().wait();
  }
  EXPECT_EQ(os::HasJoinedRemoteFences(), os::JoinRemoteFences());
}

TEST(Process, ScansItsHostOnce) {
  const auto process = *Process::Start({});
  const auto brief = process->ScanHost(false);
  ASSERT_TRUE(brief.ok()) << brief.error().message;
  EXPECT_TRUE(brief->view.pci.empty());
  const auto full = process->ScanHost(true);
  ASSERT_TRUE(full.ok()) << full.error().message;
  ASSERT_EQ(full->view.numa_nodes.size(), brief->view.numa_nodes.size());
  for (std::size_t i = 0; i < full->view.numa_nodes.size(); ++i)
    EXPECT_EQ(full->view.numa_nodes[i].cpus, brief->view.numa_nodes[i].cpus);
  EXPECT_EQ(process->ScanHost(true)->view.digest(), full->view.digest());
}

TEST(Process, CountersSumAllServiceThreads) {
  const auto process = *Process::Start({});
  if (process->usable_cores() < 2) GTEST_SKIP() << "one core";
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
  EXPECT_GE(process->ReadCounters().system_calls, first + kTurns);
}

}  // namespace
}  // namespace ringlet::comm
