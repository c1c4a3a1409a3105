#include "tool/doctor/agent_launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(AgentLaunch, SshNeverPromptsForAPassword) {
  const auto command =
      RemoteAgent("node1", {.ssh = "/usr/bin/ssh -p 2222", .tool = "/opt/ringlet"}, {{"A", "b"}});
  ASSERT_TRUE(command.ok());
  EXPECT_THAT(command->arguments,
              ElementsAre("/usr/bin/ssh", "-p", "2222", "-o", "BatchMode=yes", "-o",
                          "ConnectTimeout=10", "-o", "ServerAliveInterval=15", "node1",
                          HasSubstr("doctor --agent' '/opt/ringlet'")));
  EXPECT_EQ(command->environment.at("A"), "b");
}

TEST(AgentLaunch, OtherProgramsReceiveOnlyTheirOwnOptions) {
  const auto command = RemoteAgent("pod", {.ssh = "enter  -x", .tool = ""}, {});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->arguments.size(), 4u);
}

TEST(AgentLaunch, RefusesAQuoteInTheCommand) {
  EXPECT_FALSE(RemoteAgent("a", {.tool = "/tmp/'; rm -rf ."}, {}).ok());
  EXPECT_FALSE(RemoteAgent("a", {.ssh = "  ", .tool = ""}, {}).ok());
}

TEST(AgentLaunch, TheLocalAgentIsThisProgram) {
  EXPECT_THAT(LocalAgent({}).arguments, ElementsAre(OwnPath(), "doctor", "--agent"));
}

}  // namespace
}  // namespace ringlet::cli
