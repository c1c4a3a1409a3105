#include "base/wire/callers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ringlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kStart = seconds(1);

class CallerQueueTest : public testing::Test {
 protected:
  CallerQueue callers{2, seconds(10)};
};

TEST_F(CallerQueueTest, IsBoundedAndTheOldestCallerExpiresFirst) {
  EXPECT_EQ(callers.Overdue(), std::nullopt);
  callers.Add(5, kStart);
  EXPECT_TRUE(callers.HasRoom(kStart));
  callers.Add(7, kStart + milliseconds(1));
  EXPECT_FALSE(callers.HasRoom(kStart + CallerQueue::kHurry - Instant(1)));
  EXPECT_EQ(callers.Deadline(kStart), kStart + CallerQueue::kHurry) << "there may be room then";
  EXPECT_TRUE(callers.HasRoom(kStart + CallerQueue::kHurry));
  EXPECT_EQ(callers.Overdue(), LineId{5});
  callers.Remove(5);
  EXPECT_EQ(callers.Overdue(), std::nullopt);
}

TEST_F(CallerQueueTest, TheOldestCallerIsTheFirstAdded) {
  callers.Add(7, kStart);
  callers.Add(5, kStart + milliseconds(50));
  EXPECT_EQ(callers.Overdue(), LineId{7});
  EXPECT_TRUE(callers.HasRoom(kStart + CallerQueue::kHurry));
}

TEST_F(CallerQueueTest, AnAuthenticatedCallerOccupiesNoSlot) {
  callers.Add(5, kStart);
  callers.Add(7, kStart);
  callers.Prove(5);
  EXPECT_TRUE(callers.HasRoom(kStart));
  callers.Add(8, kStart);
  EXPECT_EQ(callers.Overdue(), LineId{7});
  EXPECT_EQ(callers.size(), 3u);
}

TEST_F(CallerQueueTest, AuthenticatedAndOtherCallersExpire) {
  callers.Add(5, kStart);
  callers.Prove(5);
  callers.Add(6, kStart + seconds(1));
  EXPECT_EQ(callers.Deadline(kStart + seconds(1)), kStart + seconds(10));
  EXPECT_EQ(callers.Expired(kStart + seconds(9)), std::nullopt);
  EXPECT_EQ(callers.Expired(kStart + seconds(10)), LineId{5});
  callers.Remove(5);
  EXPECT_EQ(callers.Expired(kStart + seconds(10)), std::nullopt);
  EXPECT_EQ(callers.Expired(kStart + seconds(11)), LineId{6});
  callers.Remove(6);
  EXPECT_EQ(callers.Deadline(kStart), std::nullopt);
  EXPECT_EQ(callers.Expired(kStart + seconds(11)), std::nullopt);
}

const Address kFrom = Address::Ipv4(192, 0, 2, 1, 9);

TEST(RejectionLog, LogsTheFirstCallersAndCountsTheRest) {
  RejectionLog log("rank 3", 2);
  EXPECT_EQ(log.Summary(), std::nullopt);
  EXPECT_EQ(log.NoteRejection(kFrom, "rubbish")->text,
            "rank 3: turned away a caller from 192.0.2.1:9: rubbish");
  EXPECT_EQ(log.NoteRejection(kFrom, "more")->level, LogLevel::kWarn);
  EXPECT_FALSE(log.Summary());
  EXPECT_FALSE(log.NoteRejection(kFrom, "and more"));
  EXPECT_EQ(log.last(), "192.0.2.1:9: and more");
  EXPECT_EQ(log.Summary()->text, "rank 3: 3 strangers were turned away in all");
}

TEST(RejectionLog, ACallerThatHangsUpIsLoggedAsInfo) {
  RejectionLog log("", 1);
  const auto note = log.NoteHangup(kFrom);
  EXPECT_EQ(note->level, LogLevel::kInfo);
  EXPECT_EQ(note->text, "a caller from 192.0.2.1:9 left before it introduced itself");
  EXPECT_FALSE(log.NoteHangup(kFrom));
  EXPECT_EQ(log.left(), 2u);
  EXPECT_EQ(log.turned_away(), 0u);
}

struct Lines {
  std::vector<Action> done;
  Callers<int> callers{{.owner = "here", .half_open_max = 2},
                       [this](Action action) { done.push_back(std::move(action)); }};

  std::vector<LineId> HungUp() const {
    std::vector<LineId> lines;
    for (const Action& action : done)
      if (const auto* hangup = std::get_if<Hangup>(&action)) lines.push_back(hangup->line);
    return lines;
  }
  std::ptrdiff_t Strangers() const {
    return std::ranges::count_if(done, [](const Action& action) {
      const auto* hangup = std::get_if<Hangup>(&action);
      return hangup && hangup->of_stranger;
    });
  }
};

TEST(Callers, AreKeptUntilTakenRejectedOrClosed) {
  Lines lines;
  lines.callers.Add({5, kFrom}, 50, kStart);
  lines.callers.Add({6, kFrom}, 60, kStart);
  EXPECT_EQ(*lines.callers.Find(6), 60);
  EXPECT_EQ(lines.callers.Take(5).from, kFrom);
  EXPECT_EQ(lines.callers.Find(5), nullptr);
  EXPECT_TRUE(lines.callers.OnClosed(6));
  EXPECT_FALSE(lines.callers.OnClosed(6));
  EXPECT_EQ(lines.callers.log().left(), 1u);
  lines.callers.Add({7, kFrom}, 70, kStart);
  lines.callers.RejectCaller(7, "rubbish");
  EXPECT_EQ(lines.callers.log().turned_away(), 1u);
  EXPECT_EQ(lines.HungUp(), std::vector<LineId>{7});
  EXPECT_EQ(lines.callers.size(), 0u);
}

TEST(Callers, DropTheOldestForANewCallerAndExpireTheRest) {
  Lines lines;
  for (const LineId line : {5u, 6u, 7u}) lines.callers.Add({line, kFrom}, 0, kStart);
  EXPECT_EQ(lines.HungUp(), std::vector<LineId>{5});
  lines.callers.Expire(kStart + seconds(10));
  EXPECT_EQ(lines.HungUp(), (std::vector<LineId>{5, 6, 7}));
  lines.callers.Add({8, kFrom}, 0, kStart);
  lines.callers.Clear();
  EXPECT_EQ(lines.HungUp(), (std::vector<LineId>{5, 6, 7, 8}));
  EXPECT_EQ(lines.callers.log().turned_away(), 3u) << "a machine that ends blames nobody";
  EXPECT_EQ(lines.Strangers(), 3);
}

}  // namespace
}  // namespace ringlet
