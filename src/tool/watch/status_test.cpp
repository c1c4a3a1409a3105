#include "tool/watch/status.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <latch>
#include <nlohmann/json.hpp>

#include "comm/establish/ranks_for_test.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string ThisPidText() {
  return std::to_string(::getpid());
}

/// Runs two ranks of this process. After a sum, rank 0 runs `body`.
void AfterASum(const std::shared_ptr<comm::Process>& process,
               const std::function<void(comm::Communicator&)>& body) {
  std::latch called(2), looked(2);
  comm::RunRanks(
      2, [&](std::uint32_t) { return process; },
      [&](std::uint32_t rank, Result<std::unique_ptr<comm::Communicator>> formed) {
        EXPECT_TRUE(formed.ok() && comm::SumOfRanks(**formed, 2).ok() && Barrier(**formed).ok());
        called.arrive_and_wait();
        if (rank == 0 && formed.ok()) body(**formed);
        looked.arrive_and_wait();
      });
}

TEST(StatusCommand, NamesAProcessThatDoesNotUseRinglet) {
  const ToolRun ran = RunCommand({"status", ThisPidText()});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("process " + ThisPidText() + " does not report its status"));
}

TEST(StatusCommand, AcceptsAProcessWithoutACommunicator) {
  const auto process = comm::ProcessWith({});
  const ToolRun ran = RunCommand({"status", ThisPidText()});
  EXPECT_EQ(ran.status, kExitDone) << ran.errors;
  EXPECT_EQ(ran.output, "1 process without a communicator\n");
}

TEST(StatusCommand, ShowsRanksInATableAndAsJson) {
  AfterASum(comm::ProcessWith({}), [](comm::Communicator& communicator) {
    const ToolRun text = RunCommand({"status", ThisPidText()});
    EXPECT_THAT(text.output, HasSubstr(fmt::format("communicator {:016x}, 2 ranks\n",
                                                   communicator.identity().magic)));
    EXPECT_THAT(text.output, HasSubstr("barrier as operation 1"));
    const ToolRun json = RunCommand({"status", ThisPidText(), "--json"});
    const auto read = nlohmann::json::parse(json.output);
    ASSERT_EQ(read.size(), 1u);
    EXPECT_EQ(read[0]["states"][1]["operations"], 2);
    const ToolRun other = RunCommand({"status", ThisPidText(), "--job", "zz"});
    EXPECT_EQ(other.status, kExitUsage);
    EXPECT_THAT(other.errors, HasSubstr("no communicator begins with \"zz\""));
  });
}

TEST(StatusCommand, WritesTracesOnRequest) {
  os::TempTree tree;
  AfterASum(comm::ProcessWith({}), [&](comm::Communicator&) {
    const ToolRun ran = RunCommand({"status", ThisPidText(), "--dump", tree.At("traces")});
    EXPECT_EQ(ran.status, kExitDone) << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr("2 traces in "));
    const ToolRun compared = RunCommand({"trace", tree.At("traces")});
    EXPECT_THAT(compared.output, HasSubstr("no divergence"));
  });
}

TEST(StatusCommand, PrintsMetrics) {
  AfterASum(comm::ProcessWith({}), [](comm::Communicator&) {
    const ToolRun ran = RunCommand({"status", ThisPidText(), "--metrics"});
    EXPECT_EQ(ran.status, kExitDone) << ran.errors;
    EXPECT_THAT(ran.output, EndsWith("# EOF\n"));
  });
}

TEST(StatusCommand, RefusesOptionsThatExcludeEachOther) {
  EXPECT_EQ(RunCommand({"status", "--metrics", "--json"}).status, kExitUsage);
  EXPECT_EQ(RunCommand({"status", "--dump", "x", "--watch", "1"}).status, kExitUsage);
  EXPECT_EQ(RunCommand({"status", "0"}).status, kExitUsage);
  EXPECT_EQ(RunCommand({"status", "--watch", "0"}).status, kExitUsage);
}

}  // namespace
}  // namespace ringlet::cli
