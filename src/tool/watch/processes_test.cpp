#include "tool/watch/processes.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <latch>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::uint32_t ThisPid() {
  return static_cast<std::uint32_t>(::getpid());
}

TEST(FindProcesses, FindsThisProcessWhileItUsesRinglet) {
  EXPECT_THAT(FindProcesses(ThisPid()).value(), IsEmpty());
  const auto process = comm::ProcessWith({});
  const auto found = FindProcesses(ThisPid()).value();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].pid, ThisPid());
}

TEST(QueryStatus, QueriesHiddenRanksOverTheControlNetwork) {
  const auto shown = comm::ProcessWith({}), hidden = comm::ProcessWith({{"RINGLET_STATUS", "0"}});
  std::latch called(2), looked(2);
  comm::RunRanks(
      2, [&](std::uint32_t rank) { return rank == 0 ? shown : hidden; },
      [&](std::uint32_t rank, Result<std::unique_ptr<comm::Communicator>> formed) {
        EXPECT_TRUE(formed.ok() && Barrier(**formed).ok());
        called.arrive_and_wait();
        StatusAnswers answers;
        if (rank == 0) answers = QueryStatus(FindProcesses(ThisPid()).value());
        looked.arrive_and_wait();
        if (rank == 0) {
          EXPECT_THAT(answers.silent, IsEmpty());
          const auto jobs = watch::JobsOf(answers.processes);
          ASSERT_THAT(jobs, SizeIs(1));
          ASSERT_THAT(jobs[0].states, SizeIs(2));
          EXPECT_EQ(jobs[0].states[1].operations, 1u);
          EXPECT_NE(jobs[0].states[1].process, "") << "it is of this host";
        }
      });
}

}  // namespace
}  // namespace ringlet::cli
