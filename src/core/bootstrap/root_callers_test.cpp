#include "bootstrap/root_callers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "bootstrap/protocol.hpp"

namespace ringlet::bootstrap {
namespace {

using std::chrono::seconds;

// The accepting end of a connection after its handshake.
Wire GuestWire() {
  Wire caller = Wire::Dialled({}, Purpose::kCheckIn, {}, 100),
       accepted = Wire::Accepted({}, {}, 100);
  while (!accepted.open() || !caller.open()) {
    if (!accepted.Push(Slice(Share(caller.TakeReply()))).ok()) ADD_FAILURE();
    if (!caller.Push(Slice(Share(accepted.TakeReply()))).ok()) ADD_FAILURE();
  }
  return accepted;
}

class RootGuestsTest : public testing::Test {
 protected:
  RootCaller& Add(LineId line, std::uint32_t rank) {
    RootCaller root_caller{.line = line,
                           .wire = GuestWire(),
                           .heard = seconds(1),
                           .rank = rank,
                           .record = {},
                           .ranks = {rank, rank + 1}};
    return root_callers.Add(std::move(root_caller));
  }
  // "7:word 8:word 7:end": the frames since the last call, and their connections.
  std::string TakeSaid() {
    std::string all;
    for (const Action& action : std::exchange(actions, {})) {
      if (const auto* send = std::get_if<Send>(&action))
        all += std::to_string(send->line) + ":" + std::string(AsText(send->data.bytes)) + " ";
      if (const auto* hangup = std::get_if<Hangup>(&action))
        all += std::to_string(hangup->line) + ":end ";
    }
    return all;
  }
  static SharedBytes Word(std::string_view text) {
    const View bytes = AsView(text);
    return Share(Bytes(bytes.begin(), bytes.end()));
  }

  std::vector<Action> actions;
  RootCallers root_callers{[this](Action action) { actions.push_back(std::move(action)); }};
};

TEST_F(RootGuestsTest, SendsAFrameToASingleMemberToAllOrToAllOthers) {
  Add(7, 0);
  RootCaller& other = Add(8, 2);
  root_callers.Transmit(other, Slice(Word("one")));
  root_callers.Transmit(7, *Word("two"));
  root_callers.Transmit(9, *Word("gone"));
  EXPECT_EQ(TakeSaid(), "8:one 7:two ");
  root_callers.SendToAll(Word("all"));
  EXPECT_EQ(TakeSaid(), "7:all 8:all ");
  root_callers.SendToAll(Word("most"), 7);
  EXPECT_EQ(TakeSaid(), "8:most ");
}

TEST_F(RootGuestsTest, ABeatFindsASilentConnection) {
  Add(7, 0);
  Add(8, 2).heard = seconds(5);
  EXPECT_EQ(root_callers.SendHeartbeats(seconds(9), seconds(9), false), std::nullopt);
  EXPECT_EQ(actions.size(), 2u);
  EXPECT_EQ(root_callers.SendHeartbeats(seconds(10), seconds(9), false), 7u);
  EXPECT_EQ(root_callers.SendHeartbeats(seconds(20), seconds(9), true), std::nullopt)
      << "it slept itself";
  EXPECT_EQ(root_callers.Find(7)->heard, seconds(20));
}

TEST_F(RootGuestsTest, HangUpClosesAllConnectionsAndReturnsTheirRanks) {
  Add(7, 0);
  Add(8, 2);
  EXPECT_EQ(root_callers.HangUp(Word("bye")), (std::set<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(TakeSaid(), "7:bye 7:end 8:bye 8:end ");
  EXPECT_EQ(root_callers.Find(7), nullptr);
  EXPECT_TRUE(root_callers.HangUp().empty());
}

TEST_F(RootGuestsTest, TakeRemovesAConnection) {
  Add(7, 4);
  EXPECT_FALSE(root_callers.Take(8).has_value());
  const auto taken = root_callers.Take(7);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->rank, 4u);
  EXPECT_EQ(root_callers.Find(7), nullptr);
}

}  // namespace
}  // namespace ringlet::bootstrap
