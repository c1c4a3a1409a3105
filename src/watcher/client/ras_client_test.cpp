#include "watcher/client/ras_client.hpp"

#include <gmock/gmock.h>

namespace ringlet::watch {
namespace {

using testing::HasSubstr;

const std::vector<Address> kServers = {Address::Ipv4(127, 0, 0, 1, 28028),
                                       Address::Ipv4(127, 0, 0, 2, 28028)};

class RasClientTest : public testing::Test {
 protected:
  RasClient& Make(RasClient::Question request) {
    client_.emplace(std::move(request), [this](std::string_view text) { report_ += text; });
    client_->Handle(Tick(), now_);
    return *client_;
  }
  void SendCommand(LineId line, std::string_view text) {
    client_->Handle(Received{line, Slice(AsView(text)), {}}, now_);
  }
  /// Returns its actions: "dial N", its words, "|".
  std::string Done() {
    std::string text;
    while (const auto action = client_->PollAction()) {
      if (const auto* dial = std::get_if<Dial>(&*action))
        text += "dial " + ToString(dial->to) + "\n";
      if (const auto* send = std::get_if<Send>(&*action)) text += AsText(send->data.bytes);
      if (std::holds_alternative<Hangup>(*action)) text += "|";
    }
    return text;
  }
  std::string Error() const { return (*client_->outcome()).error().message; }

  Instant now_{1000};
  std::string report_;
  std::optional<RasClient> client_;
};

TEST_F(RasClientTest, RequestsAReportStepByStep) {
  RasClient& client = Make(
      {.servers = kServers, .verbose = true, .format = "json", .timeout = std::chrono::seconds(3)});
  EXPECT_EQ(Done(), "dial 127.0.0.1:28028\n");
  client.Handle(Connected{1}, now_);
  EXPECT_EQ(Done(), "CLIENT PROTOCOL 2\n");
  SendCommand(1, "SERVER PROTO");
  SendCommand(1, "COL 3\n");
  EXPECT_EQ(Done(), "TIMEOUT 3\n");
  SendCommand(1, "OK\n");
  EXPECT_EQ(Done(), "SET FORMAT json\n");
  SendCommand(1, "OK\n");
  EXPECT_EQ(Done(), "VERBOSE STATUS\n");
  SendCommand(1, "{ half");
  SendCommand(1, " of it }\n");
  EXPECT_FALSE(client.Finished());
  client.Handle(Closed{1, ""}, now_);
  ASSERT_TRUE(client.Finished());
  EXPECT_TRUE(client.outcome()->ok());
  EXPECT_EQ(report_, "{ half of it }\n");
}

TEST_F(RasClientTest, TriesTheOtherAddressBeforeItFails) {
  RasClient& client = Make({.servers = kServers});
  client.Handle(Closed{1, "connection refused"}, now_);
  EXPECT_EQ(Done(), "dial 127.0.0.1:28028\ndial 127.0.0.2:28028\n");
  client.Handle(Closed{2, "connection refused"}, now_);
  ASSERT_TRUE(client.Finished());
  EXPECT_EQ(Error(), "no RAS server at 127.0.0.1:28028: connection refused");
}

TEST_F(RasClientTest, CallsAServerAgainThatHangsUpBeforeItsGreeting) {
  RasClient& client = Make({.servers = kServers});
  client.Handle(Closed{1, "connection refused"}, now_);
  client.Handle(Connected{2}, now_);
  client.Handle(Closed{2, ""}, now_);
  EXPECT_EQ(Done(),
            "dial 127.0.0.1:28028\ndial 127.0.0.2:28028\nCLIENT PROTOCOL 2\n"
            "dial 127.0.0.2:28028\n");
}

// It calls the same address again, because another process may answer.
TEST_F(RasClientTest, CallsAServerAgainThatDoesNotGreet) {
  RasClient& client = Make({.servers = kServers});
  for (std::size_t call = 1; call <= RasClient::kCallsMax; ++call) {
    client.Handle(Connected{static_cast<LineId>(call)}, now_);
    EXPECT_EQ(Done(), call == 1 ? "dial 127.0.0.1:28028\nCLIENT PROTOCOL 2\n"
                                : "|dial 127.0.0.1:28028\nCLIENT PROTOCOL 2\n");
    EXPECT_EQ(client.Deadline(), now_ + RasClient::kGreetingTimeout);
    now_ += RasClient::kGreetingTimeout;
    client.Handle(Tick(), now_);
  }
  ASSERT_TRUE(client.Finished());
  EXPECT_THAT(Error(), HasSubstr("its process may be stopped"));
}

TEST_F(RasClientTest, AMissingReportIsATimeout) {
  RasClient& client = Make({.servers = kServers});
  client.Handle(Connected{1}, now_);
  SendCommand(1, "SERVER PROTOCOL 2\n");
  now_ += RasClient::kReportSlack + RasClient::kRankTimeout;
  client.Handle(Tick(), now_);
  ASSERT_TRUE(client.Finished());
  EXPECT_EQ((*client.outcome()).error().code, Code::kTimeout);
}

TEST_F(RasClientTest, NamesAServerOfAnotherProtocol) {
  Make({.servers = kServers}).Handle(Connected{1}, now_);
  SendCommand(1, "220 mail.example.org ESMTP\r\n");
  EXPECT_THAT(Error(), HasSubstr("the answer to \"CLIENT PROTOCOL 2\" is \"220 mail"));
  Make({.servers = kServers}).Handle(Connected{1}, now_);
  SendCommand(1, std::string(5000, 'x'));
  EXPECT_EQ((*client_->outcome()).error().code, Code::kProtocol);
}

TEST_F(RasClientTest, EventsArriveUntilTheServerCloses) {
  RasClient& client = Make({.servers = kServers, .events = "all"});
  client.Handle(Connected{1}, now_);
  SendCommand(1, "SERVER PROTOCOL 2\n");
  EXPECT_THAT(Done(), HasSubstr("MONITOR all\n"));
  SendCommand(1, "OK\nfirst\n");
  SendCommand(1, "second\n");
  EXPECT_FALSE(client.Deadline().has_value());
  EXPECT_EQ(report_, "first\nsecond\n");
  client.Handle(Closed{1, ""}, now_);
  EXPECT_THAT(Error(), HasSubstr("its process has ended"));
}

}  // namespace
}  // namespace ringlet::watch
