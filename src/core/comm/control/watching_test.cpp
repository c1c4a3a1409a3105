// The views of a Control for external tools. diagnostics_test.cpp tests the answers of a process.
#include <gmock/gmock.h>

#include <array>
#include <latch>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/establish/split.hpp"
#include "os/fs/file_tree.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(Watching, AFailureWritesATraceOfEachRank) {
  os::TempTree tree;
  const auto process = ProcessWith({{"RINGLET_DUMP_DIR", tree.root()}});
  const auto process_of = [&](std::uint32_t) { return process; };
  std::atomic<std::uint64_t> magic{0};
  RunRanks(2, process_of, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    magic = (*formed)->identity().magic;
    ASSERT_TRUE(SumOfRanks(**formed, 2).ok());
    EXPECT_FALSE(SumOfRanks(**formed, 3 + rank).ok());
  });
  const auto files = os::FileTree::Open(tree.root()).value();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const auto text = files.Read(fmt::format("{:016x}-{}.json", magic.load(), rank));
    ASSERT_TRUE(text.ok()) << text.error().message;
    const auto trace = watch::ParseRankTrace(*text);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace->reason, "error");
    EXPECT_THAT(trace->failure, HasSubstr("all_reduce of"));
    ASSERT_THAT(trace->operations, SizeIs(2));
    EXPECT_EQ(trace->operations[0].progress, watch::OperationState::kDone);
    EXPECT_EQ(trace->operations[1].progress, watch::OperationState::kFailed);
    EXPECT_EQ(trace->operations[1].count, 3 + rank);
  }
}

TEST(Watching, ATraceContainsAnOperationThatIsRecordedAfterTheFailure) {
  os::TempTree tree;
  const auto process = ProcessWith({{"RINGLET_DUMP_DIR", tree.root()}});
  const auto process_of = [&](std::uint32_t) { return process; };
  RunRanks(1, process_of, [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    ASSERT_TRUE(SumOfRanks(**formed, 2).ok());
    Control& control = (*formed)->control();
    const auto operations_of_file = [&]() -> std::size_t {
      const auto name = fmt::format("{:016x}-0.json", (*formed)->identity().magic);
      const auto text = os::FileTree::Open(tree.root()).value().Read(name);
      const auto trace = text.ok() ? watch::ParseRankTrace(*text) : text.error();
      EXPECT_TRUE(trace.ok()) << trace.error().message;
      return trace.ok() ? trace->operations.size() : 0;
    };
    const collective::Fingerprint call{.sequence = 1, .count = 3};
    control.doing().BeginWithStep(call, 12);
    (*formed)->Abort("the test ends it");
    ASSERT_TRUE(control.AwaitFailure(std::chrono::seconds(60)));
    control.DumpFailure();  // as the service thread does, in the first step of the operation
    EXPECT_EQ(operations_of_file(), 1u);
    control.doing().Waits();
    control.DumpFailure();  // as the rank's thread does
    EXPECT_EQ(operations_of_file(), 2u);
    control.doing().End();
  });
}

TEST(Watching, ATraceCanBeTakenAtAnyTime) {
  const auto process = ProcessWith({});
  const auto process_of = [&](std::uint32_t) { return process; };
  std::latch called(2), looked(2);
  RunRanks(2, process_of, [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
    EXPECT_TRUE(formed.ok() && SumOfRanks(**formed, 2).ok() && Barrier(**formed).ok());
    called.arrive_and_wait();
    std::vector<watch::RankTrace> traces;
    for (const auto& watched : process->diagnostics().watched())
      traces.push_back(watched->Trace("request"));
    looked.arrive_and_wait();
    ASSERT_THAT(traces, SizeIs(2));
    for (const watch::RankTrace& trace : traces) {
      EXPECT_EQ(trace.ranks, 2u);
      EXPECT_EQ(trace.host, process->host().name);
      EXPECT_EQ(trace.failure, "");
      ASSERT_THAT(trace.operations, SizeIs(2));
      EXPECT_EQ(trace.operations[0].call, "all_reduce");
      EXPECT_GT(trace.operations[0].began, Instant(0)) << "the first is always timed";
      EXPECT_LE(trace.operations[0].ended, trace.taken);
      EXPECT_EQ(watch::ParseRankTrace(ToJson(trace)).value(), trace);
    }
  });
}

TEST(Watching, AChildHasItsOwnNameAndTrace) {
  const auto process = ProcessWith({});
  const auto process_of = [&](std::uint32_t) { return process; };
  RunRanks(1, process_of, [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    auto child = Split(**formed, 0, 0, {});
    ASSERT_TRUE(child.ok()) << child.error().message;
    ASSERT_TRUE(SumOfRanks(**child, 2).ok());
    const auto watched = process->diagnostics().watched();
    ASSERT_THAT(watched, SizeIs(2));
    EXPECT_EQ(watched[1]->Trace("").communicator,
              fmt::format("{:016x}", (*child)->identity().magic));
    EXPECT_THAT(watched[0]->Trace("").operations, SizeIs(0));
    EXPECT_THAT(watched[1]->Trace("").operations, SizeIs(1));
  });
}

/// Returns the communicators of a process with the answers of their peers.
std::vector<watch::CommunicatorStatus> LookAt(Process& process) {
  const auto watched = process.diagnostics().watched();
  std::latch done(1);
  const auto gathering =
      std::make_shared<StatusGathering>(watched.size(), [&done] { done.count_down(); });
  for (std::size_t part = 0; part < watched.size(); ++part)
    watched[part]->Look(gathering, part, /*asks_peers=*/true);
  done.wait();
  return gathering->Parts();
}

TEST(Watching, RanksOfAnotherHostReportTheirCommunicator) {
  std::array<std::shared_ptr<Process>, 2> hosts;
  for (std::size_t host = 0; host < 2; ++host)
    hosts[host] = ProcessWith({{"RINGLET_HOSTID", std::to_string(host)}});
  std::latch called(4), looked(4);
  std::atomic<std::uint64_t> name{0};
  std::vector<watch::CommunicatorStatus> seen;
  RunRanks(
      4, [&](std::uint32_t rank) { return hosts[rank / 2]; },
      [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        auto child = Split(**formed, static_cast<int>(rank / 2), 0, {});
        ASSERT_TRUE(child.ok()) << child.error().message;
        EXPECT_TRUE(SumOfRanks(**child, 3).ok());
        if (rank == 2) name = (*child)->identity().magic;
        called.arrive_and_wait();
        if (rank == 0) seen = LookAt(*hosts[0]);
        looked.arrive_and_wait();
      });
  std::vector<std::uint32_t> ranks;
  for (const watch::CommunicatorStatus& one : seen)
    for (const watch::ReportedState& told : one.told) {
      if (told.communicator != fmt::format("{:016x}", name.load())) continue;
      EXPECT_EQ(told.ranks, 2u);
      EXPECT_EQ(told.state.operations, 1u);
      EXPECT_EQ(told.state.pid, hosts[1]->host().pid);
      ASSERT_TRUE(told.state.last);
      EXPECT_EQ(told.state.last->count, 3u);
      ranks.push_back(told.state.rank);
    }
  EXPECT_THAT(ranks, testing::IsSupersetOf({0u, 1u}));
}

}  // namespace
}  // namespace ringlet::comm
