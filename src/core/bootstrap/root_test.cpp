#include "bootstrap/root.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "bootstrap/difference.hpp"
#include "bootstrap/fake_ranks_for_test.hpp"
#include "bootstrap/machine_driver_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

const Credentials kRootCredentials{77, {}};

RootConfig DefaultRoot() {
  RootConfig config;
  config.credentials = kRootCredentials;
  config.host = "roothost";
  config.pid = 1;
  config.silence_max = Instant(0);
  return config;
}

CheckIn CheckInOf(std::uint32_t rank, std::uint32_t size, Shape shape = Shape::kTree) {
  return {rank, size, shape, 8, 10'000, {}, FakeRank(rank)};
}

class RootTest : public testing::Test {
 protected:
  explicit RootTest(RootConfig config = DefaultRoot()) : root(std::move(config)), driver(root) {}

  FarEnd& Call(const Credentials& credentials = kRootCredentials,
               Purpose purpose = Purpose::kCheckIn) {
    Nonce nonce{};
    nonce[0] = static_cast<std::byte>(next_line);
    return far_ends.emplace_back(driver, next_line++, credentials, purpose, nonce);
  }
  FarEnd& CheckInAs(const CheckIn& check_in) {
    FarEnd& member = Call();
    EXPECT_TRUE(member.open());
    member.Transmit(ToFrame(check_in));
    return member;
  }
  void Stranger() { driver.Deliver(Accepted{next_line++, Address::Ipv4(198, 51, 100, 7, 1)}); }
  std::string WhyRejected(FarEnd& member) {
    EXPECT_TRUE(member.hung_up());
    return member.TakeFailure(FrameType::kReject).text;
  }

  Root root;
  MachineDriver driver;
  LineId next_line = kFirstAcceptedLine;
  std::list<FarEnd> far_ends;
};

TEST_F(RootTest, ATreeSendsTheRosterToRankZeroAndEndsAtItsReady) {
  FarEnd& two = CheckInAs(CheckInOf(2, 3));
  FarEnd& zero = CheckInAs(CheckInOf(0, 3));
  const auto welcome = ParseWelcome(zero.Take(FrameType::kWelcome)->payload.bytes);
  EXPECT_EQ(welcome->host, "roothost");
  EXPECT_EQ(welcome->hosted_rank, std::nullopt);
  EXPECT_FALSE(zero.Take(FrameType::kRoster)) << "not before all are there";
  FarEnd& one = CheckInAs(CheckInOf(1, 3));
  EXPECT_EQ(root.checked_in(), 3u);
  const auto frame = zero.Take(FrameType::kRoster);
  ASSERT_TRUE(frame);
  const auto roster = Roster::Parse(frame->payload);
  ASSERT_TRUE(roster.ok());
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(*roster->At(Rank{rank}), CheckInOf(rank, 3).member_address);
  EXPECT_FALSE(one.Take(FrameType::kRoster));
  EXPECT_FALSE(root.Finished());
  zero.Transmit(FrameType::kReady);
  driver.Pass(kCloseAfter);
  EXPECT_TRUE(root.Finished());
  EXPECT_FALSE(root.Deadline());
  for (FarEnd* member : {&zero, &one, &two}) {
    EXPECT_TRUE(member->Take(FrameType::kDone));
    EXPECT_TRUE(member->hung_up());
  }
}

TEST_F(RootTest, RejectsALateRankWithAReason) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 1));
  zero.Transmit(FrameType::kReady);
  FarEnd& late = CheckInAs(CheckInOf(0, 1));
  EXPECT_THAT(WhyRejected(late), HasSubstr("with this unique id already"));
  EXPECT_FALSE(zero.hung_up());
  driver.Pass(kCloseAfter);
  EXPECT_TRUE(zero.Take(FrameType::kDone));
}

TEST_F(RootTest, ARingSendsNeighboursAndEndsWhenAllAreReady) {
  std::vector<FarEnd*> members;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    members.push_back(&CheckInAs(CheckInOf(rank, 3, Shape::kRing)));
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const auto frame = members[rank]->Take(FrameType::kNeighbour);
    ASSERT_TRUE(frame);
    Reader in(frame->payload.bytes);
    EXPECT_EQ(DecodeMemberAddress(in), CheckInOf((rank + 1) % 3, 3).member_address);
    EXPECT_TRUE(in.AtEnd());
  }
  members[0]->Transmit(FrameType::kReady);
  members[0]->Transmit(FrameType::kReady);
  members[1]->Transmit(FrameType::kReady);
  EXPECT_FALSE(root.Finished()) << "one rank's report counts once";
  members[2]->Transmit(FrameType::kReady);
  EXPECT_TRUE(root.Finished());
  EXPECT_TRUE(members[0]->Take(FrameType::kDone));
}

TEST_F(RootTest, AnnouncesTheRankOfItsProcessToAll) {
  FarEnd& one = CheckInAs(CheckInOf(1, 3));
  CheckIn mine = CheckInOf(0, 3);
  mine.member_address.host = "roothost";
  mine.member_address.pid = 1;
  FarEnd& zero = CheckInAs(mine);
  EXPECT_EQ(ParseWelcome(zero.Take(FrameType::kWelcome)->payload.bytes)->hosted_rank, 0u);
  EXPECT_EQ(ParseWelcome(one.Take(FrameType::kWelcome)->payload.bytes)->hosted_rank, std::nullopt);
  const auto again = one.Take(FrameType::kWelcome);
  ASSERT_TRUE(again);
  EXPECT_EQ(ParseWelcome(again->payload.bytes)->hosted_rank, 0u);
}

TEST_F(RootTest, ANodeLeaderChecksInAllRanksOfItsHost) {
  FarEnd& two = CheckInAs(CheckInOf(2, 4));
  const auto follow = [&](FarEnd& node_leader, std::uint32_t from, std::uint32_t rank) {
    node_leader.Transmit(ToFrame(LocalRankCheckIn{
        CheckInOf(rank, 4), DifferenceOf(RecordOf(FakeRank(from)), RecordOf(FakeRank(rank)))}));
  };
  follow(two, 2, 3);
  FarEnd& one = CheckInAs(CheckInOf(1, 4));
  EXPECT_EQ(root.checked_in(), 3u);
  follow(one, 1, 0);
  const auto frame = one.Take(FrameType::kRoster);
  ASSERT_TRUE(frame) << "the line on which rank 0 came";
  const auto roster = Roster::Parse(frame->payload);
  ASSERT_TRUE(roster.ok());
  EXPECT_EQ(*roster->At(Rank{3}), FakeRank(3));
  EXPECT_EQ(*roster->NodeLeaderOf(Rank{3}), Rank{2});
  EXPECT_EQ(roster->NodeLeader(0), Rank{1}) << "it speaks for rank 0";
  EXPECT_FALSE(two.Take(FrameType::kRoster));
}

TEST_F(RootTest, ADuplicateLocalRankFailsAllAndNamesBoth) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 3));
  zero.Transmit(ToFrame(LocalRankCheckIn{
      CheckInOf(0, 3), DifferenceOf(RecordOf(FakeRank(0)), RecordOf(FakeRank(1)))}));
  EXPECT_EQ(WhyRejected(zero),
            "rank 0 was given to two processes: rank 0 (host host0, pid 1001) and rank 0 (host "
            "host0, pid 1000)");
}

TEST_F(RootTest, TheFirstRootCollectsTheSectionsOfOtherRoots) {
  const auto at = [](std::uint32_t rank, std::uint32_t index) {
    CheckIn check_in = CheckInOf(rank, 4);
    check_in.root = {index, 2};
    return check_in;
  };
  FarEnd& zero = CheckInAs(at(0, 0));
  FarEnd& root_delegate = CheckInAs(at(2, 0));
  EXPECT_EQ(root.checked_in(), 1u) << "rank 2 is another root's";
  CheckInAs(at(1, 0));
  EXPECT_FALSE(zero.Take(FrameType::kRoster));
  root_delegate.Transmit(FrameType::kSection, RosterOf(2, false, 2).bytes().bytes);
  const auto frame = zero.Take(FrameType::kRoster);
  ASSERT_TRUE(frame);
  EXPECT_EQ(*Roster::Parse(frame->payload)->At(Rank{3}), FakeRank(3));
}

TEST_F(RootTest, AnotherRootSendsItsSectionToItsDelegate) {
  const auto at = [](std::uint32_t rank) {
    CheckIn check_in = CheckInOf(rank, 4);
    check_in.root = {1, 2};
    return check_in;
  };
  FarEnd& three = CheckInAs(at(3));
  FarEnd& two = CheckInAs(at(2));
  const auto frame = two.Take(FrameType::kSection);
  ASSERT_TRUE(frame);
  EXPECT_EQ(Roster::Parse(frame->payload)->first(), 2u);
  EXPECT_FALSE(root.Finished());
  two.Transmit(FrameType::kReady);
  driver.Pass(kCloseAfter);
  EXPECT_TRUE(root.Finished());
  EXPECT_TRUE(three.Take(FrameType::kDone));
}

TEST_F(RootTest, ADifferentNumberOfIdsFailsAll) {
  CheckIn one = CheckInOf(1, 4);
  one.root = {0, 2};
  FarEnd& zero = CheckInAs(CheckInOf(0, 4));
  CheckInAs(one);
  EXPECT_THAT(WhyRejected(zero), HasSubstr("rank 1 (host host0, pid 1001) was given 2 unique ids"));
}

TEST_F(RootTest, AnotherWorldSizeFailsAllAndNamesBoth) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 4));
  FarEnd& one = CheckInAs(CheckInOf(1, 5));
  for (FarEnd* member : {&zero, &one})
    EXPECT_EQ(WhyRejected(*member),
              "rank 1 (host host0, pid 1001) was given world size 5, rank 0 (host host0, pid 1000) "
              "was given 4");
  EXPECT_FALSE(root.Finished());
  for (const std::uint32_t late : {2u, 3u})
    EXPECT_THAT(WhyRejected(CheckInAs(CheckInOf(late, 4))), HasSubstr("was given world size 5"));
  EXPECT_TRUE(root.Finished()) << "all have heard it";
}

TEST_F(RootTest, ARankOrASizeOutOfRangeIsRefused) {
  FarEnd& far = CheckInAs(CheckInOf(4, 4));
  EXPECT_EQ(WhyRejected(far), "rank 4 is not below the world size 4");
  FarEnd& none = CheckInAs(CheckInOf(0, 0));
  EXPECT_THAT(WhyRejected(none), HasSubstr("world size 0 is not between 1 and 16777216"));
  FarEnd& huge = CheckInAs(CheckInOf(0, kSizeMax + 1));
  EXPECT_THAT(WhyRejected(huge), HasSubstr("world size 16777217"));
  CheckIn nowhere = CheckInOf(0, 4);
  nowhere.root = {2, 2};
  EXPECT_EQ(WhyRejected(CheckInAs(nowhere)),
            "rank 0 checks in at root 2 of 2 for 4 ranks, which is impossible");
  FarEnd& unreachable = CheckInAs([] {
    CheckIn check_in = CheckInOf(0, 2);
    check_in.member_address.addresses.clear();
    return check_in;
  }());
  EXPECT_THAT(WhyRejected(unreachable), HasSubstr("rank 0 announces no address"));
  EXPECT_FALSE(root.Finished()) << "nobody had been admitted whom this could hurt";
  CheckInAs(CheckInOf(0, 1));
  EXPECT_EQ(root.checked_in(), 1u);
}

TEST_F(RootTest, ADuplicateRankFailsAndNamesBothProcesses) {
  FarEnd& first = CheckInAs(CheckInOf(2, 4));
  CheckIn twin = CheckInOf(2, 4);
  twin.member_address.pid = 77;
  FarEnd& second = CheckInAs(twin);
  for (FarEnd* member : {&first, &second})
    EXPECT_EQ(WhyRejected(*member),
              "rank 2 was given to two processes: rank 2 (host host1, pid 77) and rank 2 (host "
              "host1, pid 1002)");
}

TEST_F(RootTest, ALateDuplicateRankIsRejectedAlone) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 1));
  FarEnd& twin = CheckInAs(CheckInOf(0, 1));
  EXPECT_THAT(WhyRejected(twin), HasSubstr("two processes"));
  EXPECT_FALSE(root.Finished());
  zero.Transmit(FrameType::kReady);
  driver.Pass(kCloseAfter);
  EXPECT_TRUE(zero.Take(FrameType::kDone));
}

TEST_F(RootTest, AnotherShapeOrArityFailsAll) {
  CheckInAs(CheckInOf(0, 2));
  FarEnd& ring = CheckInAs(CheckInOf(1, 2, Shape::kRing));
  EXPECT_THAT(WhyRejected(ring),
              HasSubstr("RINGLET_BOOTSTRAP or RINGLET_TREE_ARITY differs between rank 1"));
}

TEST_F(RootTest, AnotherArityFailsAll) {
  CheckInAs(CheckInOf(0, 2));
  CheckIn odd = CheckInOf(1, 2);
  odd.arity = 4;
  EXPECT_THAT(WhyRejected(CheckInAs(odd)), HasSubstr("RINGLET_TREE_ARITY differs"));
}

TEST_F(RootTest, NamesMissingRanksBeforeTheMembersTimeOut) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 6));
  CheckInAs(CheckInOf(5, 6));
  const Instant deadline = *root.Deadline();
  EXPECT_EQ(deadline, driver.now + seconds(10) - LadderStep(seconds(10)));
  driver.Pass(deadline - driver.now - Instant(1));
  EXPECT_FALSE(root.Finished());
  driver.Pass(Instant(1));
  EXPECT_THAT(WhyRejected(CheckInAs(CheckInOf(2, 6))), HasSubstr("timed out")) << "late, but told";
  EXPECT_FALSE(root.Finished());
  driver.Pass(seconds(10));
  EXPECT_TRUE(root.Finished()) << "it does not stay for ever";
  const Failure failure = zero.TakeFailure(FrameType::kReject);
  EXPECT_EQ(failure.code, Code::kTimeout);
  EXPECT_EQ(failure.origin, kNoOrigin);
  EXPECT_EQ(failure.text,
            "timed out waiting for ranks 1-4: 2 of 6 ranks checked in, from host0 (1), host2 (1)");
}

TEST_F(RootTest, ObeysTheEarliestTimeoutOfItsMembers) {
  CheckIn later = CheckInOf(2, 4), local = CheckInOf(3, 4);
  later.timeout_ms = 4'000;
  local.timeout_ms = 2'000;
  FarEnd& zero = CheckInAs(CheckInOf(0, 4));
  FarEnd& two = CheckInAs(later);
  driver.Pass(milliseconds(100));
  EXPECT_EQ(root.Deadline(), driver.now + milliseconds(3'900) - LadderStep(seconds(4)));
  zero.Transmit(
      ToFrame(LocalRankCheckIn{local, DifferenceOf(RecordOf(FakeRank(0)), RecordOf(FakeRank(3)))}));
  driver.Pass(seconds(2) - LadderStep(seconds(2)));
  for (FarEnd* member : {&zero, &two})
    EXPECT_EQ(WhyRejected(*member),
              "timed out waiting for rank 1: 3 of 4 ranks checked in, from host0 (1), "
              "host1 (2)");
}

TEST_F(RootTest, ATimeoutReportsRefusedCallers) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 2));
  FarEnd& other = Call({.magic = kRootCredentials.magic, .secret = {std::byte{1}}});
  EXPECT_FALSE(other.open());
  other.Close();
  driver.Pass(seconds(10));
  EXPECT_THAT(WhyRejected(zero),
              AllOf(HasSubstr("timed out waiting for rank 1"),
                    HasSubstr("callers that hung up before they introduced themselves: 1 (a rank "
                              "with another RINGLET_SECRET or unique id does so)")));
}

TEST_F(RootTest, NamesASingleMissingRankInTheSingular) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 2));
  driver.Pass(seconds(10));
  EXPECT_THAT(WhyRejected(zero), HasSubstr("waiting for rank 1: 1 of 2"));
}

TEST_F(RootTest, RejectsRanksThatDoNotConnectInTime) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 2));
  CheckInAs(CheckInOf(1, 2));
  driver.Pass(seconds(10));
  EXPECT_THAT(WhyRejected(zero), HasSubstr("did not all connect to each other in time"));
}

RootConfig ConfigWithHeartbeats() {
  RootConfig config = DefaultRoot();
  config.silence_max = seconds(4);
  return config;
}

class HeartbeatTest : public RootTest {
 protected:
  HeartbeatTest() : RootTest(ConfigWithHeartbeats()) {}
};

TEST_F(HeartbeatTest, IsSentOnEveryConnectionAndDetectsASilentPeer) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 3));
  FarEnd& one = CheckInAs(CheckInOf(1, 3));
  FarEnd& unknown = Call();
  for (int second = 1; second <= 3; ++second) {
    driver.Pass(seconds(1));
    EXPECT_TRUE(zero.Take(FrameType::kBeat)) << second;
    EXPECT_TRUE(one.Take(FrameType::kBeat)) << second;
    EXPECT_FALSE(zero.Take(FrameType::kBeat)) << "one in a second";
    zero.Transmit(FrameType::kBeat);
  }
  EXPECT_FALSE(unknown.Take(FrameType::kBeat)) << "to those who have checked in";
  driver.Pass(seconds(1));
  const Failure failure = zero.TakeFailure(FrameType::kReject);
  EXPECT_EQ(failure.origin, 1u);
  EXPECT_THAT(failure.text, HasSubstr("no message arrived from it for 4 s"));
  EXPECT_TRUE(one.hung_up());
}

TEST_F(HeartbeatTest, ASuspendedRootDoesNotReportItsMembersAsSilent) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 2));
  driver.Pass(seconds(5));
  EXPECT_FALSE(zero.hung_up());
  for (int second = 1; second <= 3; ++second) driver.Pass(seconds(1));
  EXPECT_FALSE(zero.hung_up()) << "its silence counts from when the root woke up";
  driver.Pass(seconds(1));
  EXPECT_TRUE(zero.hung_up());
}

TEST_F(RootTest, AMemberLostBeforeAllCheckInFailsTheOthers) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 3));
  FarEnd& one = CheckInAs(CheckInOf(1, 3));
  one.Close("connection reset by peer");
  const Failure failure = zero.TakeFailure(FrameType::kReject);
  EXPECT_EQ(failure.code, Code::kPeerLost);
  EXPECT_EQ(failure.origin, 1u);
  EXPECT_EQ(failure.text,
            "rank 1 (host host0, pid 1001) was lost before all ranks had checked in: connection "
            "reset by peer");
  EXPECT_THAT(WhyRejected(CheckInAs(CheckInOf(2, 3))),
              HasSubstr("rank 1 (host host0, pid 1001) was lost"));
  EXPECT_TRUE(root.Finished()) << "all who live have heard it";
}

TEST_F(RootTest, AMemberLostAfterAllCheckInFailsTheOthers) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 2));
  CheckInAs(CheckInOf(1, 2)).Close();
  EXPECT_THAT(WhyRejected(zero),
              AllOf(HasSubstr("rank 1"), HasSubstr("while the ranks connected")));
}

TEST_F(RootTest, ForwardsTheFailureOfAMemberUnchanged) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 3));
  FarEnd& one = CheckInAs(CheckInOf(1, 3));
  one.Transmit(
      ToFrame(FrameType::kFailure, {Code::kTimeout, 1, "rank 2 cannot be reached by rank 1"}));
  const Failure failure = zero.TakeFailure(FrameType::kReject);
  EXPECT_EQ(failure.code, Code::kTimeout);
  EXPECT_EQ(failure.origin, 1u);
  EXPECT_EQ(failure.text, "rank 2 cannot be reached by rank 1");
}

TEST_F(RootTest, AnUnexpectedFrameOfAMemberFailsAll) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 3));
  FarEnd& one = CheckInAs(CheckInOf(1, 3));
  one.Transmit(FrameType::kReady);
  EXPECT_THAT(WhyRejected(zero),
              AllOf(HasSubstr("rank 1"), HasSubstr("an unexpected frame (type 5)")));
}

TEST_F(RootTest, AnOverlongFrameOfAMemberFailsAll) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 3));
  FarEnd& one = CheckInAs(CheckInOf(1, 3));
  Writer out;
  out.U32(kRootFrameBytesMax + 1).U8(1);
  one.Transmit(out.Take());
  EXPECT_THAT(WhyRejected(zero),
              AllOf(HasSubstr("rank 1 (host host0, pid 1001)"), HasSubstr("4194305 bytes")));
}

TEST_F(RootTest, AbortRejectsEveryMemberAndClosesAllConnections) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 3));
  FarEnd& half_open = Call();
  root.Abort("the process that made the id ends");
  driver.Drain();
  const Failure failure = zero.TakeFailure(FrameType::kReject);
  EXPECT_EQ(failure.code, Code::kAborted);
  EXPECT_EQ(failure.text, "the process that made the id ends");
  EXPECT_TRUE(half_open.hung_up());
  root.Abort("again");
  driver.Deliver(Accepted{next_line, {}});
  driver.Drain();
  EXPECT_TRUE(driver.sent[next_line].empty());
}

TEST_F(RootTest, OtherProtocolsAreLoggedOnceAndClosed) {
  Stranger();
  driver.DeliverBytes(kFirstAcceptedLine, Bytes(48, std::byte{'G'}));
  EXPECT_TRUE(driver.hung_up.contains(kFirstAcceptedLine));
  ASSERT_EQ(driver.notes.size(), 1u);
  EXPECT_EQ(driver.notes[0],
            "root: turned away a caller from 198.51.100.7:1: a stranger that does not speak "
            "Ringlet's protocol");
  EXPECT_EQ(root.strangers(), 1u);
  EXPECT_TRUE(driver.TakeSent(kFirstAcceptedLine).empty()) << "it is told nothing";
  driver.DeliverBytes(kFirstAcceptedLine, Bytes(48, std::byte{'G'}));
  EXPECT_EQ(root.strangers(), 1u);
  EXPECT_FALSE(root.Deadline());
}

TEST_F(RootTest, SilentCallersExpire) {
  Stranger();
  Stranger();
  EXPECT_EQ(*root.Deadline(), driver.now + seconds(10));
  driver.Pass(seconds(10) - Instant(1));
  EXPECT_TRUE(driver.hung_up.empty());
  driver.Pass(Instant(1));
  EXPECT_EQ(driver.hung_up.size(), 2u);
  EXPECT_EQ(driver.notes.size(), 2u);
  EXPECT_THAT(driver.notes[0], HasSubstr("did not introduce itself in time"));
  EXPECT_FALSE(root.Deadline());
}

TEST_F(RootTest, CountsCallersThatHangUp) {
  Stranger();
  driver.Deliver(Closed{kFirstAcceptedLine, "?"});
  EXPECT_EQ(root.strangers(), 1u);
  EXPECT_THAT(driver.notes.at(0), HasSubstr("left before it introduced itself"));
}

TEST_F(RootTest, RejectsCallersWithAWrongSecretOrPurpose) {
  Credentials other = kRootCredentials;
  other.secret[3] = std::byte{1};
  FarEnd& wrong = Call(other);
  EXPECT_FALSE(wrong.open());
  EXPECT_FALSE(wrong.hung_up()) << "it knows now, and goes";
  FarEnd& lost = Call(kRootCredentials, Purpose::kTree);
  ASSERT_TRUE(lost.open());
  lost.Transmit(ToFrame(CheckInOf(0, 1)));
  EXPECT_TRUE(lost.hung_up());
  EXPECT_EQ(root.checked_in(), 0u);
  EXPECT_THAT(driver.notes.back(), HasSubstr("calls the root as if it were another member"));
}

TEST_F(RootTest, RejectsAMemberThatDoesNotCheckIn) {
  FarEnd& member = Call();
  member.Transmit(FrameType::kReady);
  EXPECT_EQ(WhyRejected(member), "a member that does not check in");
  FarEnd& malformed = Call();
  malformed.Transmit(FrameType::kCheckIn, AsView("?"));
  EXPECT_EQ(WhyRejected(malformed), "a malformed check-in frame");
}

TEST_F(RootTest, AReplayedCheckInIsRefused) {
  // An eavesdropper has these messages of rank 0: its Hello, its proof and its check-in.
  Wire wire = Wire::Dialled(kRootCredentials, Purpose::kCheckIn, {}, 100);
  Bytes recording = wire.TakeReply();
  const LineId line = next_line++;
  driver.Deliver(Accepted{line, {}});
  driver.DeliverBytes(line, recording);
  ASSERT_TRUE(wire.Push(Slice(Share(driver.TakeSent(line)))).ok());
  Bytes rest = wire.TakeReply();
  const Bytes check_in = ToFrame(CheckInOf(0, 2));
  rest.insert(rest.end(), check_in.begin(), check_in.end());
  driver.DeliverBytes(line, rest);
  ASSERT_EQ(root.checked_in(), 1u);
  driver.Deliver(Closed{line, "gone"});  // this root is now over; another one has the same secret

  RootConfig config = DefaultRoot();
  config.nonce_seed[0] = std::byte{1};
  Root second(config);
  MachineDriver second_driver(second);
  recording.insert(recording.end(), rest.begin(), rest.end());
  second_driver.Deliver(Accepted{line, {}});
  second_driver.DeliverBytes(line, recording);
  EXPECT_EQ(second.checked_in(), 0u);
  EXPECT_TRUE(second_driver.hung_up.contains(line));
  EXPECT_THAT(second_driver.notes.at(0), HasSubstr("does not know this communicator's secret"));
}

TEST_F(RootTest, ReadsACheckInCutIntoSingleBytes) {
  Wire wire = Wire::Dialled(kRootCredentials, Purpose::kCheckIn, {}, 100);
  const LineId line = next_line++;
  driver.Deliver(Accepted{line, {}});
  const auto trickle = [&](const Bytes& bytes) {
    for (const std::byte b : bytes) driver.DeliverBytes(line, Bytes(1, b));
  };
  trickle(wire.TakeReply());
  ASSERT_TRUE(wire.Push(Slice(Share(driver.TakeSent(line)))).ok());
  trickle(wire.TakeReply());
  trickle(ToFrame(CheckInOf(0, 2)));
  EXPECT_EQ(root.checked_in(), 1u);
}

class SmallRootTest : public RootTest {
 protected:
  SmallRootTest()
      : RootTest([] {
          RootConfig config = DefaultRoot();
          config.half_open_max = 3;
          config.strangers_noted_max = 2;
          return config;
        }()) {}
};

TEST_F(SmallRootTest, BoundsHalfOpenCallersAndDropsTheOldest) {
  FarEnd& member = CheckInAs(CheckInOf(0, 1));
  for (int i = 0; i < 5; ++i) Stranger();
  EXPECT_EQ(driver.hung_up, (std::set<LineId>{kFirstAcceptedLine + 1, kFirstAcceptedLine + 2}));
  EXPECT_THAT(driver.notes.at(0), HasSubstr("too many callers"));
  EXPECT_FALSE(member.hung_up()) << "who has checked in is not half-open";
}

TEST_F(SmallRootTest, AcceptsNoCallerWhileFullOfRecentCallers) {
  Stranger();
  FarEnd& proven = Call();
  Stranger();
  EXPECT_TRUE(root.Accepting()) << "who has proven itself takes no room";
  Stranger();
  EXPECT_FALSE(root.Accepting());
  const auto due = root.Deadline();
  ASSERT_TRUE(due);
  driver.Pass(*due - driver.now);
  EXPECT_TRUE(root.Accepting()) << "strangers have had their time";
  for (int i = 0; i < 3; ++i) Stranger();
  EXPECT_EQ(driver.hung_up.size(), 3u);
  EXPECT_FALSE(proven.hung_up()) << "not for a stranger's sake";
  proven.Transmit(ToFrame(CheckInOf(0, 2)));
  EXPECT_EQ(root.checked_in(), 1u);
}

TEST_F(SmallRootTest, BoundsItsLogLinesAndCountsTheRest) {
  for (int i = 0; i < 50; ++i) Stranger();
  EXPECT_EQ(driver.notes.size(), 2u);
  EXPECT_EQ(root.strangers(), 47u);
  CheckInAs(CheckInOf(0, 1)).Transmit(FrameType::kReady);
  driver.Pass(kCloseAfter);
  ASSERT_TRUE(root.Finished());
  EXPECT_EQ(driver.notes.back(), "root: 48 strangers were turned away in all");
}

TEST(LadderStep, IsATwentiethOfTheTimeoutWithinBounds) {
  EXPECT_EQ(LadderStep(seconds(10)), milliseconds(500));
  EXPECT_EQ(LadderStep(milliseconds(100)), milliseconds(20));
  EXPECT_EQ(LadderStep(seconds(3600)), seconds(2));
}

// ---- refusing, by its owner -------------------------------------------------------------------

TEST_F(RootTest, ARefusedRootRejectsNewCallers) {
  root.Refuse({Code::kPeerLost, kNoOrigin, "not grown"}, driver.now);
  driver.Pass(kRefusalMost - seconds(1));
  for (const std::uint32_t rank : {0u, 0u, 1u})
    EXPECT_EQ(WhyRejected(CheckInAs(CheckInOf(rank, 2))), "not grown");
  EXPECT_FALSE(root.Finished());
  driver.Pass(seconds(1));
  EXPECT_TRUE(root.Finished());
}

TEST_F(RootTest, ARefusedRootRejectsItsMembers) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 3));
  root.Refuse({Code::kPeerLost, kNoOrigin, "not grown"}, driver.now);
  driver.Drain();
  EXPECT_EQ(WhyRejected(zero), "not grown");
  EXPECT_EQ(WhyRejected(CheckInAs(CheckInOf(2, 3))), "not grown");
}

TEST_F(RootTest, ACompleteRootIsNotRefused) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 1));
  root.Refuse({Code::kPeerLost, kNoOrigin, "not grown"}, driver.now);
  driver.Drain();
  EXPECT_FALSE(zero.hung_up());
}

class LastingRoot : public RootTest {
 protected:
  LastingRoot()
      : RootTest([] {
          RootConfig config = DefaultRoot();
          config.refuses_long = true;
          config.hint = [] { return std::string("; a hint"); };
          config.is_stopped = [](std::string_view host, std::uint32_t pid) {
            return host == "host0" && pid == 1001;
          };
          return config;
        }()) {}
};

TEST_F(LastingRoot, RejectsRanksForLongerThanItsMembersWaited) {
  CheckInAs(CheckInOf(0, 2));
  driver.Pass(seconds(10));
  driver.Pass(seconds(60));
  EXPECT_EQ(WhyRejected(CheckInAs(CheckInOf(1, 2))),
            "timed out waiting for rank 1: 1 of 2 ranks checked in, from host0 (1); a hint");
  EXPECT_TRUE(root.Finished()) << "all know";
}

TEST_F(LastingRoot, NamesAStoppedMember) {
  FarEnd& zero = CheckInAs(CheckInOf(0, 2));
  CheckInAs(CheckInOf(1, 2));
  driver.Pass(seconds(10));
  EXPECT_EQ(
      WhyRejected(zero),
      "all ranks checked in, but they did not all connect to each other in time: rank 1 (host "
      "host0, pid 1001) is stopped (by SIGSTOP or a debugger; kill -CONT 1001 resumes it)");
}

}  // namespace
}  // namespace ringlet::bootstrap
