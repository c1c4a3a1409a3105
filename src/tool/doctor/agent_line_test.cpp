#include "tool/doctor/agent_line.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "os/clock.hpp"
#include "os/net/poll.hpp"
#include "os/process/env.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

Instant Soon() {
  return os::Now() + std::chrono::seconds(20);
}

/// Pumps until a line or the end of the connection arrives.
std::string Next(AgentLine& line) {
  for (const Instant until = Soon(); os::Now() < until;) {
    line.Pump();
    if (auto text = line.Take()) return *text;
    if (!line.over().empty()) return "over: " + line.over();
    std::vector<int> watched;
    line.AddDescriptors(watched);
    os::PollReadable(watched, std::chrono::seconds(1));
  }
  return "nothing";
}

Result<AgentLine> StartShell(const std::string& script) {
  return AgentLine::Start(
      "node1", {.arguments = {"sh", "-c", script}, .environment = os::ReadEnvironment()});
}

TEST(LineReader, SplitsLinesAndLimitsTheirLength) {
  LineReader reader;
  EXPECT_TRUE(reader.Push("one\ntw"));
  EXPECT_EQ(reader.Take(), "one");
  EXPECT_EQ(reader.Take(), std::nullopt);
  EXPECT_TRUE(reader.Push("o\n\n"));
  EXPECT_EQ(reader.Take(), "two");
  EXPECT_EQ(reader.Take(), "");
  EXPECT_FALSE(reader.Push(std::string(kAgentLineMax + 1, 'x')));
}

TEST(LineReader, WaitsForALineUntilADeadline) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  os::Fd read(ends[0]), write(ends[1]);
  LineReader reader;
  EXPECT_EQ(reader.Await(read.get(), os::Now()).error().code, Code::kTimeout);
  ASSERT_TRUE(WriteLine(write.get(), "word", Soon()).ok());
  EXPECT_EQ(**reader.Await(read.get(), Soon()), "word");
  write.Close();
  EXPECT_EQ(*reader.Await(read.get(), Soon()), std::nullopt);
}

TEST(WriteLine, TimesOutOnAPeerThatDoesNotRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const os::Fd read(ends[0]), write(ends[1]);
  const std::string much(1 << 20, 'x');
  EXPECT_EQ(WriteLine(write.get(), much, os::Now() + std::chrono::milliseconds(20)).error().code,
            Code::kTimeout);
}

TEST(AgentLine, ExchangesLinesWithAProgram) {
  auto line = StartShell("read word; echo got $word; echo last words >&2; exit 3");
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->host(), "node1");
  ASSERT_TRUE(line->Send("hello", Soon()).ok());
  EXPECT_EQ(Next(*line), "got hello");
  EXPECT_EQ(Next(*line), "over: last words");
}

TEST(AgentLine, ReportsAProgramThatDoesNotStart) {
  EXPECT_FALSE(AgentLine::Start("a", {.arguments = {"no-such-program"}, .environment = {}}).ok());
  auto line = StartShell("exit 1");
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(Next(*line), HasSubstr("it ended without any output"));
}

TEST(AgentLine, ExchangesLinesWithASocket) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  os::Fd there(ends[1]);
  AgentLine line("rank 1", os::Fd(ends[0]));
  ASSERT_TRUE(WriteLine(there.get(), "facts", Soon()).ok());
  EXPECT_EQ(Next(line), "facts");
  ASSERT_TRUE(line.Send("question", Soon()).ok());
  LineReader reader;
  EXPECT_EQ(**reader.Await(there.get(), Soon()), "question");
  there.Close();
  EXPECT_EQ(Next(line), "over: it closed the connection");
}

}  // namespace
}  // namespace ringlet::cli
