#include "base/wire/callers.hpp"

#include <gtest/gtest.h>

namespace ringlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kStart = seconds(1);

class CallersTest : public testing::Test {
 protected:
  Callers callers{2, seconds(10)};
};

TEST_F(CallersTest, AreBoundedAndTheOldestIsInTheWayWhenItHasHadItsTime) {
  EXPECT_EQ(callers.InTheWay(), std::nullopt);
  callers.Add(5, kStart);
  EXPECT_TRUE(callers.HasRoom(kStart));
  callers.Add(7, kStart + milliseconds(1));
  EXPECT_FALSE(callers.HasRoom(kStart + Callers::kHurry - Instant(1)));
  EXPECT_EQ(callers.Deadline(kStart), kStart + Callers::kHurry) << "there may be room then";
  EXPECT_TRUE(callers.HasRoom(kStart + Callers::kHurry));
  EXPECT_EQ(callers.InTheWay(), LineId{5});
  callers.Remove(5);
  EXPECT_EQ(callers.InTheWay(), std::nullopt);
}

TEST_F(CallersTest, TheOldestIsWhoCameFirstWhateverItsNumber) {
  callers.Add(7, kStart);
  callers.Add(5, kStart + milliseconds(50));
  EXPECT_EQ(callers.InTheWay(), LineId{7});
  EXPECT_TRUE(callers.HasRoom(kStart + Callers::kHurry));
}

TEST_F(CallersTest, WhoHasProvenItselfIsInNobodysWay) {
  callers.Add(5, kStart);
  callers.Add(7, kStart);
  callers.Prove(5);
  EXPECT_TRUE(callers.HasRoom(kStart));
  callers.Add(8, kStart);
  EXPECT_EQ(callers.InTheWay(), LineId{7});
  EXPECT_EQ(callers.size(), 3u);
}

TEST_F(CallersTest, ExpireWhetherProvenOrNot) {
  callers.Add(5, kStart);
  callers.Prove(5);
  callers.Add(6, kStart + seconds(1));
  EXPECT_EQ(callers.Deadline(kStart + seconds(1)), kStart + seconds(10));
  EXPECT_EQ(callers.Expired(kStart + seconds(9)), std::nullopt);
  EXPECT_EQ(callers.Expired(kStart + seconds(10)), LineId{5});
  callers.Remove(5);
  EXPECT_EQ(callers.Expired(kStart + seconds(10)), std::nullopt);
  EXPECT_EQ(callers.Expired(kStart + seconds(11)), LineId{6});
  callers.Clear();
  EXPECT_EQ(callers.Deadline(kStart), std::nullopt);
  EXPECT_EQ(callers.Expired(kStart + seconds(11)), std::nullopt);
}

}  // namespace
}  // namespace ringlet
