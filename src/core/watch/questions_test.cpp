#include "watch/questions.hpp"

#include <gmock/gmock.h>

#include "watch/status.hpp"

namespace ringlet::watch {
namespace {

using testing::ElementsAre;

constexpr Instant kTimeout(100);

class QuestionsTest : public testing::Test {
 protected:
  /// Connections, questions and hangups so far.
  std::string Done() {
    std::string text;
    while (const auto action = questions_.PollAction()) {
      if (const auto* dial = std::get_if<Dial>(&*action)) text += ToString(dial->to) + " ";
      if (const auto* send = std::get_if<Send>(&*action)) text += AsText(send->data.bytes);
      if (std::holds_alternative<Hangup>(*action)) text += "|";
    }
    return text;
  }
  void Hear(LineId line, std::string_view text) {
    questions_.Handle(Received{line, Slice(AsView(text)), {}}, Instant(2));
  }

  Questions questions_{{Address::Unix("a"), Address::Unix("b")}, "status\n", kTimeout};
};

TEST_F(QuestionsTest, SendsEachQuestionAndKeepsTheOrderOfAnswers) {
  EXPECT_FALSE(questions_.Finished());
  questions_.Handle(Tick(), Instant(1));
  EXPECT_EQ(Done(), "unix:@a unix:@b ");
  questions_.Handle(Connected{1}, Instant(1));
  questions_.Handle(Connected{0}, Instant(1));
  EXPECT_EQ(Done(), "status\nstatus\n");
  Hear(1, "se");
  Hear(0, "first");
  Hear(1, "cond");
  questions_.Handle(Closed{1, ""}, Instant(3));
  EXPECT_FALSE(questions_.Finished());
  questions_.Handle(Closed{0, ""}, Instant(3));
  EXPECT_TRUE(questions_.Finished());
  EXPECT_THAT(questions_.TakeAnswers(), ElementsAre("first", "second"));
  EXPECT_FALSE(questions_.Deadline().has_value());
}

TEST_F(QuestionsTest, ClosesAProcessThatDoesNotAnswerInTime) {
  questions_.Handle(Tick(), Instant(1));
  Done();
  Hear(0, "half of an ans");
  questions_.Handle(Closed{1, "refused"}, Instant(2));
  EXPECT_EQ(questions_.Deadline(), Instant(1) + kTimeout);
  questions_.Handle(Tick(), Instant(1) + kTimeout);
  EXPECT_EQ(Done(), "|");
  EXPECT_TRUE(questions_.Finished());
  EXPECT_THAT(questions_.TakeAnswers(), ElementsAre("", ""));
}

TEST_F(QuestionsTest, AnAnswerWithoutAnEndIsDropped) {
  questions_.Handle(Tick(), Instant(1));
  Done();
  Hear(0, std::string(kStatusBytesMax + 1, 'x'));
  EXPECT_EQ(Done(), "|");
  questions_.Handle(Closed{1, ""}, Instant(2));
  EXPECT_TRUE(questions_.Finished());
  EXPECT_THAT(questions_.TakeAnswers(), ElementsAre("", ""));
}

}  // namespace
}  // namespace ringlet::watch
