#include "tool/doctor/agent.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "doctor/facts.hpp"
#include "os/clock.hpp"
#include "tool/doctor/agent_command.hpp"
#include "tool/doctor/agent_line.hpp"

namespace ringlet::cli {
namespace {

/// All commands are sent before the agent starts. Its answers are read after it ends.
struct Served {
  Status status;
  std::vector<std::string> answers;
};

Served Serve(const std::vector<std::string>& commands) {
  std::array<int, 2> in{}, out{};
  EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
  os::Fd in_read(in[0]), in_write(in[1]), out_read(out[0]), out_write(out[1]);
  const Instant until = os::Now() + std::chrono::seconds(20);
  for (const std::string& command : commands)
    EXPECT_TRUE(WriteLine(in_write.get(), command, until).ok());
  in_write.Close();
  Served served{.status = ServeDoctor(in_read.get(), out_write.get(),
                                      {{"RINGLET_SOCKET_IFNAME", "=lo"}, {"HOME", "/"}}),
                .answers = {}};
  out_write.Close();
  LineReader reader;
  while (true) {
    const auto line = reader.Await(out_read.get(), until);
    if (!line.ok() || !*line) return served;
    served.answers.push_back(**line);
  }
}

TEST(Agent, ReportsFactsTimeAndPairs) {
  const Served served = Serve({ToLine({.kind = AgentCommand::Order::kLook}),
                               ToLine({.kind = AgentCommand::Order::kClock}),
                               ToLine({.kind = AgentCommand::Order::kReach}),
                               ToLine({.kind = AgentCommand::Order::kEnd}), "not read"});
  EXPECT_TRUE(served.status.ok());
  ASSERT_EQ(served.answers.size(), 3u);
  const auto facts = doctor::ParseHostFacts(served.answers[0]);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->endpoints.size(), 1u);
  EXPECT_TRUE(ParseClockAnswer(served.answers[1]).ok());
  EXPECT_TRUE(doctor::ParsePairs(served.answers[2], 0).ok());
}

TEST(Agent, EndsWhenItsInputEnds) {
  EXPECT_TRUE(Serve({}).status.ok());
}

TEST(Agent, RefusesUnknownCommands) {
  const Served served = Serve({"rm -rf /"});
  ASSERT_FALSE(served.status.ok());
  EXPECT_EQ(served.status.error().code, Code::kProtocol);
  EXPECT_TRUE(served.answers.empty());
}

}  // namespace
}  // namespace ringlet::cli
