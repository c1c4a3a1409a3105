#include "tool/doctor/examination.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include "doctor/judge.hpp"
#include "os/process/thread.hpp"
#include "tool/doctor/agent.hpp"

namespace ringlet::cli {
namespace {

/// An agent on a thread of this process. All such agents are one host.
struct AgentHere {
  AgentHere() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    near = os::Fd(ends[0]);
    far = os::Fd(ends[1]);
  }
  void Serve(const EnvMap& environment) {
    auto started = os::StartThread("to test", [this, environment](const std::stop_token&) {
      EXPECT_TRUE(ServeDoctor(far.get(), far.get(), environment).ok());
      far.Close();
    });
    ASSERT_TRUE(started.ok());
    thread = *std::move(started);
  }
  os::Fd near, far;
  std::jthread thread;  // last member, because the thread uses the others
};

const EnvMap kLoopback = {{"RINGLET_SOCKET_IFNAME", "=lo"}, {"HOME", "/"}};

TEST(Examination, MeasuresAllPairsOfAnsweringHosts) {
  std::array<AgentHere, 3> agents;
  std::vector<AgentLine> lines;
  for (AgentHere& agent : agents) {
    agent.Serve(kLoopback);
    lines.emplace_back("host" + std::to_string(lines.size()), std::move(agent.near));
  }
  const auto facts = Examine(std::move(lines), {.timeout = std::chrono::seconds(60)});
  ASSERT_TRUE(facts.ok());
  EXPECT_TRUE(facts->silent.empty());
  ASSERT_EQ(facts->hosts.size(), 3u);
  EXPECT_EQ(facts->hosts[2].host, "host2");
  EXPECT_EQ(facts->reached.size(), 6u);
  EXPECT_EQ(facts->measured.size(), 6u);
  for (const doctor::PairFacts& pair : facts->measured) EXPECT_GT(pair.bytes_per_s, 0u);
  EXPECT_LT(std::abs(facts->hosts[1].clock_ahead_ns), 50'000'000'000);
}

TEST(Examination, RanksOnOneHostCountAsOneHost) {
  std::array<AgentHere, 3> agents;
  std::vector<AgentLine> lines;
  for (AgentHere& agent : agents) {
    agent.Serve(kLoopback);
    lines.emplace_back("rank " + std::to_string(lines.size()), std::move(agent.near));
  }
  const auto facts = Examine(std::move(lines), {.timeout = std::chrono::seconds(60)});
  ASSERT_TRUE(facts.ok());
  ASSERT_EQ(facts->hosts.size(), 1u);
  EXPECT_EQ(facts->hosts[0].ranks, 3u);
}

TEST(Examination, AHostThatDoesNotAnswerIsSilent) {
  std::array<AgentHere, 3> agents;
  agents[0].Serve(kLoopback);
  agents[2].far.Close();
  std::vector<AgentLine> lines;
  for (AgentHere& agent : agents)
    lines.emplace_back("host" + std::to_string(lines.size()), std::move(agent.near));
  const auto facts = Examine(std::move(lines), {.timeout = std::chrono::seconds(2)});
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->hosts.size(), 1u);
  ASSERT_EQ(facts->silent.size(), 2u);
  EXPECT_EQ(facts->silent[0].host, "host1");
  EXPECT_EQ(facts->silent[0].why, "it did not answer in time");
  EXPECT_EQ(facts->silent[1].why, "it closed the connection");
}

}  // namespace
}  // namespace ringlet::cli
