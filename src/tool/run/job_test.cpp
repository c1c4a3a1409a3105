#include "tool/run/job.hpp"

#include <gmock/gmock.h>

#include "os/process/env.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(RankEnvironmentTest, SetsVariablesOfRingletAndTorchrun) {
  const EnvMap map = RankEnvironment({{"PATH", "/bin"}, {"RANK", "9"}}, {.rank = 5,
                                                                         .ranks = 8,
                                                                         .local_rank = 1,
                                                                         .local_ranks = 4,
                                                                         .unique_id = "ringlet1:00",
                                                                         .master_port = 1234});
  const EnvMap expected{
      {"LOCAL_RANK", "1"},         {"LOCAL_WORLD_SIZE", "4"}, {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", "1234"},     {"PATH", "/bin"},          {"RANK", "5"},
      {"RINGLET_LOCAL_RANK", "1"}, {"RINGLET_RANK", "5"},     {"RINGLET_UNIQUE_ID", "ringlet1:00"},
      {"RINGLET_WORLD_SIZE", "8"}, {"WORLD_SIZE", "8"}};
  EXPECT_EQ(map, expected);
}

TEST(JobTest, RanksFillHostsInOrder) {
  const ToolRun ran = Captured([] {
    return RunJob({.command = "test",
                   .program = {"sh", "-c",
                               "echo $HOST_WORD $RANK/$WORLD_SIZE "
                               "$LOCAL_RANK/$LOCAL_WORLD_SIZE"},
                   .ranks = 4,
                   .hosts = 2,
                   .environment = [](std::uint32_t host) {
                     EnvMap environment = os::ReadEnvironment();
                     environment["HOST_WORD"] = "host" + std::to_string(host);
                     return environment;
                   }});
  });
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("[0] host0 0/4 0/2\n"));
  EXPECT_THAT(ran.output, HasSubstr("[1] host0 1/4 1/2\n"));
  EXPECT_THAT(ran.output, HasSubstr("[2] host1 2/4 0/2\n"));
  EXPECT_THAT(ran.output, HasSubstr("[3] host1 3/4 1/2\n"));
}

TEST(JobTest, NamesTheFirstFailure) {
  const ToolRun ran = Captured([] {
    return RunJob({.command = "test",
                   .program = {"sh", "-c", "[ $RANK = 1 ] && exit 7; sleep 3600"},
                   .ranks = 2,
                   .environment = [](std::uint32_t) { return os::ReadEnvironment(); }});
  });
  EXPECT_EQ(ran.status, 7);
  EXPECT_THAT(ran.errors, HasSubstr("ringlet test: rank 1 exited with status 7"));
}

}  // namespace
}  // namespace ringlet::cli
