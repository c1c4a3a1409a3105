#include "watch/ras/ras_server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/value/json_object.hpp"
#include "watch/ras/ras_jobs_for_test.hpp"

namespace ringlet::watch {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Reach = RankState::Reach;

constexpr LineId kClient = kFirstAcceptedLine;

class RasServerTest : public testing::Test {
 protected:
  void Call(LineId line = kClient) { server_.Handle(Accepted{line, Address()}, now_); }
  void SendText(std::string_view text, LineId line = kClient) {
    server_.Handle(Received{line, Slice(AsView(text)), {}}, now_);
  }
  void Wait(Instant time) {
    now_ += time;
    server_.Handle(Tick(), now_);
  }
  void Look(const std::vector<JobStatus>& jobs) { server_.OnLook(jobs, now_); }
  /// The texts to clients, and "|" for the end of a connection.
  std::string Done() {
    std::string text;
    while (const auto action = server_.PollAction()) {
      if (const auto* send = std::get_if<Send>(&*action)) text += AsText(send->data.bytes);
      if (std::holds_alternative<Hangup>(*action)) text += "|";
    }
    return text;
  }

  Instant now_{1000};
  int looks_ = 0;
  RasServer server_{{.nccl_version = "2.32.3",
                     .look = [this] { ++looks_; },
                     .give_up = [] { return std::vector{JobForTest({1})}; },
                     .timestamp = [] { return "2026-11-24 15:04:05"; }}};
};

TEST_F(RasServerTest, AnswersCommandsAndClosesAfterTheReport) {
  Call();
  SendText("CLIENT PROTO");
  EXPECT_EQ(Done(), "");
  SendText("COL 2\nTIMEOUT 5\r\nset format JSON\nSTATUS\nSTATUS\n");
  EXPECT_EQ(Done(), "SERVER PROTOCOL 2\nOK\nOK\n");
  EXPECT_EQ(looks_, 1);
  Look({JobForTest({3, 3})});
  const std::string report = Done();
  EXPECT_TRUE(report.ends_with("}\n|")) << report;
  EXPECT_EQ(Json::parse(report.substr(0, report.size() - 1))["communicators_count"], 1);
  EXPECT_FALSE(server_.Deadline().has_value());
}

TEST_F(RasServerTest, RefusesUnknownCommands) {
  Call();
  SendText("STATUS REPORT\nTIMEOUT -1\nTIMEOUT\nSET FORMAT xml\nMONITOR rain\n\x01\n");
  EXPECT_EQ(Done(),
            "ERROR: Unknown command STATUS REPORT\n"
            "ERROR: Invalid timeout value -1\n"
            "ERROR: Unknown command TIMEOUT\n"
            "ERROR: Invalid format xml\n"
            "ERROR: Invalid event group \"rain\"\n"
            "ERROR: Unknown command \\x01\n");
  EXPECT_EQ(looks_, 0);
}

TEST_F(RasServerTest, ConcurrentClientsShareACollection) {
  for (const LineId line : {kClient, kClient + 1, kClient + 2}) {
    Call(line);
    SendText("VERBOSE STATUS\n", line);
  }
  EXPECT_EQ(looks_, 1);
  Look({});
  const std::string told = Done();
  EXPECT_EQ(std::ranges::count(told, '|'), 3);
}

TEST_F(RasServerTest, TheReportIsSentWithinTheTimeoutAndItsMaximum) {
  for (const auto& [seconds, wait] : {std::pair("0", RasServer::kLookTimeoutMax),
                                      {"1", Instant(std::chrono::seconds(1))},
                                      {"3600", RasServer::kLookTimeoutMax}}) {
    Call();
    SendText(fmt::format("TIMEOUT {}\nSTATUS\n", seconds));
    EXPECT_EQ(server_.Deadline(), now_ + wait);
    Wait(wait - Instant(1));
    EXPECT_EQ(Done(), "OK\n");
    Wait(Instant(1));
    EXPECT_THAT(Done(), StartsWith("NCCL version 2.32.3")) << "as far as it is known";
    Look({});
    EXPECT_EQ(Done(), "") << "too late";
  }
}

TEST_F(RasServerTest, ClosesASilentClient) {
  Call();
  Wait(RasServer::kCommandTimeout);
  EXPECT_EQ(Done(), "|");
  SendText("STATUS\n");
  EXPECT_EQ(looks_, 0);
}

TEST_F(RasServerTest, BoundsLinesAndCommands) {
  Call();
  SendText(std::string(RasServer::kLineBytesMax + 1, 'x'));
  EXPECT_EQ(Done(), "|");
  Call();
  SendText(std::string(RasServer::kLineBytesMax + 1, 'x') + "\n");
  EXPECT_EQ(Done(), "|");
  Call();
  for (std::size_t i = 0; i <= RasServer::kCommandsMax; ++i) SendText("TIMEOUT 1\n");
  EXPECT_TRUE(Done().ends_with("OK\n|"));
}

TEST_F(RasServerTest, SilentClientsDoNotBlockOthers) {
  for (LineId line = 0; line < RasServer::kClientsMax; ++line) Call(kClient + line);
  EXPECT_EQ(Done(), "");
  Wait(Instant(1));
  const LineId late = kClient + RasServer::kClientsMax;
  Call(late);
  EXPECT_EQ(Done(), "|") << "the first of those that were silent";
  SendText("STATUS\n", late);
  EXPECT_EQ(looks_, 1);
}

TEST_F(RasServerTest, ActiveClientsAreNotDroppedForNewClients) {
  for (LineId line = 0; line < RasServer::kClientsMax; ++line) {
    Call(kClient + line);
    SendText("TIMEOUT 1\n", kClient + line);
  }
  Done();
  Call(kClient + RasServer::kClientsMax);
  EXPECT_EQ(Done(), "|");
  SendText("STATUS\n");
  EXPECT_EQ(looks_, 1) << "the first one is still here";
}

TEST_F(RasServerTest, MonitorsReceiveChanges) {
  Call();
  SendText("SET FORMAT json\nMONITOR\n");
  EXPECT_EQ(Done(), "OK\nOK\n");
  EXPECT_EQ(looks_, 1);
  Look({JobForTest({1, 1})});
  EXPECT_EQ(Done(), "");
  EXPECT_EQ(server_.Deadline(), now_ + RasServer::kMonitorPeriod);
  Wait(RasServer::kMonitorPeriod);
  EXPECT_EQ(looks_, 2);
  JobStatus job = JobForTest({1, 1});
  job.states[0].reach = Reach::kSilent;
  job.states[1].reach = Reach::kGone;
  Look({job});
  const std::string told = Done();
  EXPECT_EQ(Json::parse(told)["event"], "PEER_DEAD") << "and no trace, which was not asked for";
  server_.Handle(Closed{kClient, ""}, now_);
  Wait(RasServer::kMonitorPeriod);
  EXPECT_EQ(looks_, 2) << "nobody monitors";
  EXPECT_FALSE(server_.Deadline().has_value());
}

TEST_F(RasServerTest, BoundsTheNumberOfMonitors) {
  for (LineId line = 0; line <= RasServer::kMonitorsMax; ++line) {
    Call(kClient + line);
    SendText("MONITOR all\n", kClient + line);
  }
  EXPECT_THAT(Done(), HasSubstr("OK\nERROR: 8 clients monitor this process already\n"));
}

TEST_F(RasServerTest, ClosesAMonitorThatDoesNotRead) {
  Call();
  SendText("MONITOR all\n");
  JobStatus well = JobForTest(std::vector<std::uint64_t>(4000, 1)), ill = well;
  for (RankState& state : ill.states) state.reach = Reach::kSilent;
  std::size_t bytes = 0;
  bool over = false;
  for (int look = 0; look < 100 && !over; ++look) {
    Look({look % 2 == 0 ? well : ill});
    Wait(RasServer::kMonitorPeriod);
    const std::string told = Done();
    bytes += told.size();
    over = told.ends_with("|");
  }
  EXPECT_TRUE(over);
  EXPECT_LT(bytes, RasServer::kMonitorBytesMax + 100);
}

}  // namespace
}  // namespace ringlet::watch
