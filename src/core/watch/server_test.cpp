#include "watch/server.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ringlet::watch {
namespace {

constexpr LineId kCaller = kFirstAcceptedLine;

class ServerTest : public testing::Test {
 protected:
  void Say(std::string_view text, Instant now = Instant(1), LineId line = kCaller) {
    server_.Handle(Received{line, Slice(AsView(text)), {}}, now);
  }
  void Call(LineId line = kCaller, Instant now = Instant(1)) {
    server_.Handle(Accepted{line, Address()}, now);
  }
  /// Answers and the ends of connections, in order.
  std::string Done() {
    std::string text;
    while (const auto action = server_.PollAction()) {
      if (const auto* send = std::get_if<Send>(&*action))
        text += std::string(AsText(send->data.bytes));
      if (std::holds_alternative<Hangup>(*action)) text += "|";
    }
    return text;
  }

  std::vector<std::string> asked_;
  bool later_ = false;
  Server server_{{.ask = [this](LineId, std::string_view question) -> std::optional<std::string> {
                    asked_.emplace_back(question);
                    if (later_) return std::nullopt;
                    return "answer";
                  },
                  .give_up = [](LineId) { return std::string("so far"); }}};
};

TEST_F(ServerTest, AnswersAQuestionAndClosesTheConnection) {
  Call();
  Say("sta");
  EXPECT_EQ(Done(), "");
  Say("tus\nmore");
  EXPECT_EQ(Done(), "answer|");
  EXPECT_EQ(asked_, std::vector<std::string>{"status"});
  EXPECT_FALSE(server_.Deadline().has_value());
}

TEST_F(ServerTest, RefusesALongQuestion) {
  Call();
  Say(std::string(Server::kQuestionBytesMax + 1, 'x'));
  EXPECT_EQ(Done(), "|");
  Call();
  Say(std::string(Server::kQuestionBytesMax + 1, 'x') + "\n");
  EXPECT_EQ(Done(), "|");
  EXPECT_TRUE(asked_.empty());
}

TEST_F(ServerTest, ClosesASilentCaller) {
  Call();
  ASSERT_EQ(server_.Deadline(), Instant(1) + Server::kQuestionTimeout);
  server_.Handle(Tick{}, Server::kQuestionTimeout);
  EXPECT_EQ(Done(), "");
  server_.Handle(Tick{}, Instant(1) + Server::kQuestionTimeout);
  EXPECT_EQ(Done(), "|");
}

TEST_F(ServerTest, AnAnswerMayBeGivenLater) {
  later_ = true;
  Call();
  Say("status\n");
  EXPECT_EQ(Done(), "");
  Say("status\n");
  EXPECT_EQ(asked_.size(), 1u) << "one question a caller";
  server_.Answer(kCaller, "late");
  EXPECT_EQ(Done(), "late|");
  server_.Answer(kCaller, "again");
  EXPECT_EQ(Done(), "");
}

TEST_F(ServerTest, SendsAPartialAnswerAtTheTimeout) {
  later_ = true;
  Call();
  Say("status\n", Instant(5));
  server_.Handle(Tick{}, Instant(5) + Server::kAnswerTimeout);
  EXPECT_EQ(Done(), "so far|");
}

TEST_F(ServerTest, BoundsTheNumberOfCallers) {
  for (LineId i = 0; i < Server::kCallersMax; ++i) {
    EXPECT_TRUE(server_.Accepting());
    Call(kCaller + i);
  }
  EXPECT_FALSE(server_.Accepting());
  server_.Handle(Closed{kCaller, "gone"}, Instant(2));
  EXPECT_TRUE(server_.Accepting());
  Say("status\n");
  EXPECT_TRUE(asked_.empty()) << "it is gone";
}

TEST(ServerName, ContainsThePid) {
  EXPECT_EQ(Server::NameOf(4711, 0xab), "ringlet.4711.00000000000000ab");
  EXPECT_EQ(Server::PidIn("ringlet.4711.00000000000000ab"), 4711u);
  for (const char* name :
       {"", "ringlet.", "ringlet.4711", "ringlet.x.00000000000000ab", "ringlet.0.00000000000000ab",
        "ringlet.4711.ab", "ringlet.99999999999.00000000000000ab", "other.1.00000000000000ab"})
    EXPECT_FALSE(Server::PidIn(name).has_value()) << name;
}

}  // namespace
}  // namespace ringlet::watch
