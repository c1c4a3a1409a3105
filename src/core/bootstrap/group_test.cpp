#include "bootstrap/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bootstrap/fake_ranks_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

using testing::HasSubstr;

// Rank 1 of 4: parent 0, child 2.
GroupProtocol MiddleOfThree() {
  GroupProtocol group({.id = 5, .self = 1, .size = 4, .place = {0, {2}}});
  group.set_roster(RosterOf(4));
  return group;
}

Slice Payload(Bytes bytes) {
  return Slice(Share(std::move(bytes)));
}

TEST(GroupProtocol, GathersAlongItsTree) {
  GroupProtocol group = MiddleOfThree();
  group.Gather(false, Bytes(1, std::byte{'1'}));
  EXPECT_TRUE(group.TakeOutgoing().empty()) << "the child is awaited";
  EXPECT_EQ(group.Phase(),
            "in collective 1 of the control network, waiting for rank 2 or the ranks below it");
  group.OnFrame(2, FrameType::kGather, Payload(GatherPayload(1, {{2, "2"}})));
  const auto up = group.TakeOutgoing();
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0].to, 0u);
  EXPECT_EQ(up[0].type, FrameType::kGather);
  group.OnFrame(0, FrameType::kTable, Payload(TablePayload(1, {"0", "1", "2", "3"})));
  const auto down = group.TakeOutgoing();
  ASSERT_EQ(down.size(), 1u);
  EXPECT_EQ(down[0].to, 2u);
  EXPECT_EQ(AsText(group.TakeTable()->At(Rank{3})), "3");
  EXPECT_FALSE(group.failure());
}

TEST(GroupProtocol, AnUnexpectedFrameFailsAndNamesItsSender) {
  for (const auto& [from, type] : {std::pair{0u, FrameType::kGather},
                                   {3u, FrameType::kGather},
                                   {2u, FrameType::kTable},
                                   {2u, FrameType::kBlock},
                                   {2u, FrameType::kAnswer},
                                   {2u, FrameType::kMessage},
                                   {2u, FrameType::kForm},
                                   {2u, FrameType::kRoster}}) {
    GroupProtocol group = MiddleOfThree();
    group.OnFrame(from, type, Slice());
    ASSERT_TRUE(group.failure()) << static_cast<int>(type);
    EXPECT_EQ(group.failure()->origin, from);
    EXPECT_THAT(group.failure()->text, HasSubstr("rank " + std::to_string(from) + " (host host"));
    const std::string number = std::to_string(static_cast<int>(type));
    EXPECT_THAT(group.failure()->text,
                HasSubstr(type == FrameType::kForm ? "has another list"
                                                   : "sent an unexpected frame of type " + number));
  }
}

TEST(GroupProtocol, ToleratesLateAndRepeatedFrames) {
  GroupProtocol group = MiddleOfThree();
  Writer answer, digest;
  Encode(answer, Activity{7, 2u});
  digest.U64(0);
  group.Gather(false, Bytes(1, std::byte{'1'}));
  for (const auto& [from, type, payload] :
       {std::tuple{2u, FrameType::kGather, GatherPayload(1, {{2, "2"}})},
        {0u, FrameType::kTable, TablePayload(1, {"0", "1", "2", "3"})},
        {3u, FrameType::kAnswer, answer.Take()},
        {3u, FrameType::kAsk, Bytes()},
        {3u, FrameType::kForm, digest.Take()},
        {3u, FrameType::kMessage, Bytes(8)},
        {3u, FrameType::kLeave, Bytes()}}) {
    for (int times = 0; times < 3; ++times) group.OnFrame(from, type, Payload(payload));
    ASSERT_FALSE(group.failure()) << static_cast<int>(type) << ": " << group.failure()->text;
  }
  EXPECT_TRUE(group.TakeTable());
  EXPECT_FALSE(group.TakeAnswer(3)) << "it was not asked";
  group.Gather(false, {});
  group.OnFrame(2, FrameType::kGather, Payload(GatherPayload(2, {{2, "2"}})));
  EXPECT_FALSE(group.failure()) << group.failure()->text;
}

TEST(GroupProtocol, ReturnsAQuestionOnceAndSendsItsAnswer) {
  GroupProtocol group = MiddleOfThree();
  group.OnFrame(3, FrameType::kAsk, Slice());
  group.OnFrame(3, FrameType::kAsk, Slice());
  EXPECT_EQ(group.TakeQuestion(), 3u);
  EXPECT_FALSE(group.TakeQuestion()) << "once for each rank";
  group.Answer(3, Activity{7, 2u});
  const auto out = group.TakeOutgoing();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].type, FrameType::kAnswer);
  EXPECT_EQ(*ParseActivity(out[0].head), (Activity{7, 2u}));
}

TEST(GroupProtocol, KeepsTheFirstFailureAndSendsNothingAfterIt) {
  GroupProtocol group = MiddleOfThree();
  group.FailHere(Code::kAborted, "first");
  group.OnLost(2, Code::kPeerLost, "second");
  EXPECT_EQ(group.failure()->text, "first");
  group.Gather(false, {});
  group.Post(0, 1, {});
  group.Ask(0);
  EXPECT_TRUE(group.TakeOutgoing().empty());
}

TEST(GroupProtocol, ALossNamesTheLostRankAndNoOtherOrigin) {
  GroupProtocol known = MiddleOfThree(), unknown = MiddleOfThree();
  known.FailHere(Code::kPeerLost, "rank 2 has left", 2);
  EXPECT_EQ(known.failure()->origin, 2u);
  unknown.FailHere(Code::kPeerLost, "a link broke");
  EXPECT_EQ(unknown.failure()->origin, kNoOrigin);
}

TEST(GroupProtocol, ARankReportedAsLostStatesThatItLives) {
  for (const std::uint32_t origin : {1u, 2u}) {
    GroupProtocol group = MiddleOfThree();
    Writer failure;
    Encode(failure, Failure{Code::kPeerLost, origin, "it was lost: connection reset by peer"});
    group.OnFrame(0, FrameType::kFailure, Payload(failure.Take()));
    ASSERT_TRUE(group.failure());
    EXPECT_EQ(
        group.failure()->text.starts_with("rank 1 is alive, but a connection to it was cut: it"),
        origin == 1)
        << group.failure()->text;
  }
}

TEST(GroupProtocol, ADepartedRankFailsOnlyCollectivesThatNeedIt) {
  GroupProtocol group = MiddleOfThree();
  group.OnFrame(3, FrameType::kLeave, Slice());
  group.OnLost(3, Code::kPeerLost, "was lost");
  group.Gather(true, {});
  EXPECT_FALSE(group.failure()) << "rank 3 is not next to it";
  group.OnFrame(2, FrameType::kLeave, Slice());
  ASSERT_TRUE(group.failure());
  EXPECT_THAT(group.failure()->text, HasSubstr("rank 2 (host host1, pid 1002) has left"));
}

}  // namespace
}  // namespace ringlet::bootstrap
